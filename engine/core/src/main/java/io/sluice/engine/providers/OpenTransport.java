package io.sluice.engine.providers;

import io.sluice.engine.transport.Transport;
import java.util.concurrent.atomic.AtomicBoolean;

/** A transport that the engine has opened. Any thread. */
public final class OpenTransport {
    private final String name;
    private final int index;
    private final Transport transport;
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
