package io.sluice.engine;

import java.util.Set;

/**
 * A peer's region, attached on one connection. It is valid until the connection ends or the peer closes the region;
 * then transfers fail with a typed error.
 */
public interface RemoteRegion {
    /**
     * Returns the connection on which the region was attached, the only one that can use it.
     *
     * @return the connection
     */
    Connection connection();

    /**
     * Returns the descriptor of the attached region.
     *
     * @return the descriptor
     */
    RegionDescriptor descriptor();

    /**
     * Returns the number of bytes that can be reached; offsets of transfers range from 0 to this length.
     *
     * @return bytes
     */
    default long length() {
        return descriptor().length();
    }

    /**
     * Returns the rights on the region.
     *
     * @return an unmodifiable set
     */
    default Set<Access> access() {
        return descriptor().access();
    }

    /**
     * Returns the path that carries reads and writes of this region, preferably that for local host memory.
     *
     * @return one of {@link Connection#paths()}, with the reason why it was chosen for this region
     */
    ConnectionPath path();

    /**
     * Returns the path that carries reads and writes between this region and a kind of local memory.
     *
     * @param local the kind of the local region
     * @return the path
     * @throws MemoryNotAccessibleException if there is no such path
     */
    ConnectionPath path(MemoryKind local);

    /**
     * Returns the path that carries puts, signals and atomic operations.
     *
     * @return the path
     * @throws MemoryNotAccessibleException if there is no such path
     */
    ConnectionPath wordPath();
}
