package io.sluice.engine;

/**
 * The checks of a connection, beyond the network's own, that detect bytes changed in transit. Both sides agree on
 * it in the bootstrap: if either asks for it, the connection has it.
 */
public enum Integrity {
    /** No checks beyond the checksums of Ethernet, IP, TCP or the network adapter. */
    NONE,
    /**
     * On tcp, a CRC-32C of each frame's header and of each chunk's bytes. The receiver checks a chunk before it
     * acknowledges a write or completes a read. A chunk that does not match ends its transfer with {@link
     * IntegrityException}; a header that does not match ends the connection. Other transports move bytes without the
     * engine; there {@link Connection#checksum} checks a range afterwards.
     */
    CRC32C
}
