package io.sluice.engine;

import java.util.Set;

/**
 * A peer's region, attached on one connection. It stays valid until the connection ends or the peer closes the region;
 * transfers then fail with a typed error.
 */
public interface RemoteRegion {
    /**
     * The connection it was attached on, the only one it can be used with.
     *
     * @return the connection
     */
    Connection connection();

    /**
     * The descriptor of the attached region.
     *
     * @return the descriptor
     */
    RegionDescriptor descriptor();

    /**
     * How many bytes can be reached; offsets of transfers run from 0 to this.
     *
     * @return bytes
     */
    default long length() {
        return descriptor().length();
    }

    /**
     * The rights on the region.
     *
     * @return an unmodifiable set
     */
    default Set<Access> access() {
        return descriptor().access();
    }

    /**
     * The path that carries reads and writes of this region, from and to local memory of the host where there is one for that.
     *
     * @return one of {@link Connection#paths()}, with the reason why it was taken for this region
     */
    ConnectionPath path();

    /**
     * The path that carries reads and writes from and to a kind of local memory.
     *
     * @param local the kind of the local region
     * @return the path
     * @throws MemoryNotAccessibleException if there is none
     */
    ConnectionPath path(MemoryKind local);

    /**
     * The path that carries puts, signals and atomic operations.
     *
     * @return the path
     * @throws MemoryNotAccessibleException if there is none
     */
    ConnectionPath wordPath();
}
