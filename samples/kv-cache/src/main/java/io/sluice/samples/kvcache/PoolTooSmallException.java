package io.sluice.samples.kvcache;

/** The page pool cannot hold what is asked of it even when nothing else is in it; the message says which size would. */
public final class PoolTooSmallException extends RuntimeException {
    private static final long serialVersionUID = 1L;
    private static final long MIB = 1L << 20;

    private final long requiredBytes;
    private final long poolBytes;

    /**
     * For a pool of a given size that lacks room.
     *
     * @param what names what does not fit, at the start of the message
     */
    PoolTooSmallException(String what, long requiredBytes, long poolBytes) {
        super(what + " needs " + requiredBytes + " bytes of KV-cache, and the pool holds " + poolBytes
                + ": give --pool " + roundUpToMib(requiredBytes) + "MiB or more");
        this.requiredBytes = requiredBytes;
        this.poolBytes = poolBytes;
    }

    /** The smallest pool that would do, in bytes. */
    public long requiredBytes() {
        return requiredBytes;
    }

    /** The pool that was too small, in bytes. */
    public long poolBytes() {
        return poolBytes;
    }

    private static long roundUpToMib(long bytes) {
        return bytes / MIB + (bytes % MIB == 0 ? 0 : 1);
    }
}
