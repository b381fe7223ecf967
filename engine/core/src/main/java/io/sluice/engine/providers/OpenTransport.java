package io.sluice.engine.providers;

import io.sluice.engine.MemoryKind;
import io.sluice.engine.transport.Capabilities;
import io.sluice.engine.transport.Transport;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;

/** A transport that the engine has opened. Any thread. */
public final class OpenTransport {
    private final String name;
    private final int index;
    private final Transport transport;
    // kinds that other transports give it staged, with the chunk of each; complete before the transport is used
    private Map<MemoryKind, Long> staged = Map.of();
    private final AtomicBoolean refusing = new AtomicBoolean();

    /**
     * Of an engine.
     *
     * @param name its provider's
     * @param index its place among the engine's transports, 0 for the most preferred
     * @param transport itself
     */
    public OpenTransport(String name, int index, Transport transport) {
        this.name = name;
        this.index = index;
        this.transport = transport;
    }

    /**
     * Its name.
     *
     * @return its provider's
     */
    public String name() {
        return name;
    }

    /**
     * Its place.
     *
     * @return among the engine's transports, 0 for the most preferred
     */
    public int index() {
        return index;
    }

    /**
     * Itself.
     *
     * @return what the provider has opened
     */
    public Transport transport() {
        return transport;
    }

    /** Takes the kinds of memory that other transports of the engine register as staged; before the transport is used. */
    void carry(Map<MemoryKind, Long> kinds) {
        staged = Map.copyOf(kinds);
    }

    /**
     * Whether it carries a kind of memory only through a ring of pinned memory of the host.
     *
     * @param kind the kind
     * @return false if it does not carry the kind, or directly
     */
    public boolean stages(MemoryKind kind) {
        return staged.containsKey(kind);
    }

    /**
     * Whether peers can be given access to a kind of memory over it.
     *
     * @param kind the kind
     * @return true also if the memory is staged
     */
    public boolean exports(MemoryKind kind) {
        return transport.memory().register().contains(kind) || stages(kind);
    }

    /**
     * Whether a kind of memory may be the local side of a transfer over it.
     *
     * @param kind the kind
     * @return true also if the memory is staged
     */
    public boolean accesses(MemoryKind kind) {
        return transport.memory().access().contains(kind) || stages(kind);
    }

    /**
     * Its capabilities, with the preferred chunks of staged memory.
     *
     * @return as its transport declares for all else
     */
    public Capabilities capabilities() {
        Capabilities all = transport.capabilities();
        for (Map.Entry<MemoryKind, Long> kind : staged.entrySet()) {
            all = all.withPreferredChunk(kind.getKey(), kind.getValue());
        }
        return all;
    }

    /**
     * It has refused memory that another transport has taken: from now on a connection over it needs another path.
     *
     * @return true the first time
     */
    public boolean refused() {
        return refusing.compareAndSet(false, true);
    }

    /**
     * Whether it has refused memory that another transport has taken.
     *
     * @return true once it has
     */
    public boolean isRefusing() {
        return refusing.get();
    }
}
