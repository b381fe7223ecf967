package io.sluice.samples.kvcache;

/** The page pool cannot hold what is asked of it even when nothing else is in it; the message says which size would. */
public final class PoolTooSmallException extends RuntimeException {
    private static final long serialVersionUID = 1L;
    private static final long MIB = 1L << 20;

    PoolTooSmallException(String what, long requiredBytes, long poolBytes) {
        super(what + " needs " + requiredBytes + " bytes of KV-cache, and the pool holds " + poolBytes
                + ": give --pool " + Math.ceilDiv(requiredBytes, MIB) + "MiB or more");
    }
}
