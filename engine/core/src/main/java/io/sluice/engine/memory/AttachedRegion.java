package io.sluice.engine.memory;

import io.sluice.engine.Access;
import io.sluice.engine.Connection;
import io.sluice.engine.ConnectionPath;
import io.sluice.engine.MemoryKind;
import io.sluice.engine.MemoryNotAccessibleException;
import io.sluice.engine.RegionDescriptor;
import io.sluice.engine.RegistrationException;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.transport.RemoteKey;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** A peer's region as reached by one connection, over the paths that were chosen when it was attached. Thread-safe. */
public final class AttachedRegion implements RemoteRegion {
    private final Connection connection;
    private final RegionDescriptor descriptor;
    // by kind of local memory
    private final @Nullable RegionPath[] copies;
    // likewise, for local regions that the transport of the first has refused
    private final @Nullable RegionPath[] others;
    private final @Nullable RegionPath words;
    private final RegionPath first;

    AttachedRegion(
            Connection connection,
            RegionDescriptor descriptor,
            @Nullable RegionPath[] copies,
            @Nullable RegionPath[] others,
            @Nullable RegionPath words,
            RegionPath first) {
        this.connection = connection;
        this.descriptor = descriptor;
        this.copies = copies;
        this.others = others;
        this.words = words;
        this.first = first;
    }

    @Override
    public Connection connection() {
        return connection;
    }

    @Override
    public RegionDescriptor descriptor() {
        return descriptor;
    }

    /** Returns the key by which the peer identifies the attachment, on every path. */
    public RemoteKey key() {
        return first.key();
    }

    /** Returns all keys, one for each chosen path. */
    List<RemoteKey> keys() {
        List<RemoteKey> keys = new ArrayList<>();
        for (int kind = 0; kind < copies.length; kind++) {
            add(copies[kind], keys);
            add(others[kind], keys);
        }
        add(words, keys);
        return keys;
    }

    private static void add(@Nullable RegionPath path, List<RemoteKey> keys) {
        if (path != null && !keys.contains(path.key())) {
            keys.add(path.key());
        }
    }

    /**
     * Returns the key for reads and writes.
     *
     * @param local the local region
     * @throws MemoryNotAccessibleException if no path connects its memory with this region
     */
    public RemoteKey key(LocalRegion local) {
        RegionPath path = copies[local.kind().ordinal()];
        if (path == null) {
            throw new MemoryNotAccessibleException(
                    "no transport of this connection (" + transports() + ") accesses " + local.memory() + " to reach "
                            + descriptor + "; use a transport that does, or transfer through host memory");
        }
        RegistrationException refusal = local.refusal(path.path().transport().index());
        RegionPath other = others[local.kind().ordinal()];
        if (refusal != null
                && other != null
                && local.refusal(other.path().transport().index()) == null) {
            return other.key();
        }
        if (refusal != null) {
            throw new MemoryNotAccessibleException(
                    "transport " + path.transport() + " has not taken " + local + ": " + refusal.getMessage());
        }
        return path.key();
    }

    /**
     * Returns the key for puts, signals and atomic operations.
     *
     * @throws MemoryNotAccessibleException if no path carries them
     */
    public RemoteKey wordKey() {
        return ofWords().key();
    }

    private RegionPath ofWords() {
        RegionPath path = words;
        if (path == null) {
            throw new MemoryNotAccessibleException("no transport of this connection (" + transports()
                    + ") changes words of " + descriptor + "; it only reads and writes there");
        }
        return path;
    }

    private String transports() {
        return String.join(
                ", ", connection.paths().stream().map(ConnectionPath::transport).toList());
    }

    @Override
    public ConnectionPath path() {
        return Objects.requireNonNullElse(copies[MemoryKind.HOST.ordinal()], first);
    }

    @Override
    public ConnectionPath path(MemoryKind local) {
        RegionPath path = copies[local.ordinal()];
        if (path == null) {
            throw new MemoryNotAccessibleException("no transport of this connection (" + transports() + ") accesses "
                    + local + " memory to reach " + descriptor);
        }
        return path;
    }

    @Override
    public ConnectionPath wordPath() {
        return ofWords();
    }

    @Override
    public @Nullable MemorySegment mapped() {
        RegionPath path = copies[MemoryKind.HOST.ordinal()];
        MemorySegment memory = path == null ? null : path.key().mapped();
        return memory == null || access().contains(Access.REMOTE_WRITE) ? memory : memory.asReadOnly();
    }

    @Override
    public String toString() {
        return "RemoteRegion[" + descriptor + "]";
    }
}
