package io.sluice.engine;

/**
 * The checks of a connection, beyond the network's own, that detect bytes changed in transit. Both sides agree on
 * it in the bootstrap: if either asks for it, the connection has it.
 */
public enum Integrity {
    /** Nothing: the checksums of Ethernet, IP, TCP or of the network adapter are all there is. */
    NONE,
    /**
     * On tcp a CRC-32C of each frame's header and of each chunk's bytes. The receiver checks a chunk before it is acknowledged,
     * or before the read completes; one that does not match ends its transfer with {@link IntegrityException}, and a header
     * that does not match ends the connection. Other transports move bytes without the engine: there
     * {@link Connection#checksum} can be asked for after the fact.
     */
    CRC32C
}
