package io.sluice.collectives.run;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/** How long collectives have waited for each rank. The loop writes; any thread reads. */
public final class PeerWaits {
    private static final VarHandle WORDS = MethodHandles.arrayElementVarHandle(long[].class);

    private final long[] nanos;
    private final long[] lasts;

    /** Creates it for a number of ranks. */
    public PeerWaits(int size) {
        this.nanos = new long[size];
        this.lasts = new long[size];
    }

    void waited(int peer, long more) {
        WORDS.setOpaque(nanos, peer, nanos[peer] + more);
    }

    void last(int peer) {
        WORDS.setOpaque(lasts, peer, lasts[peer] + 1);
    }

    /** Returns how long collectives have waited for a rank. */
    public long nanos(int peer) {
        return (long) WORDS.getOpaque(nanos, peer);
    }

    /** Returns how many collectives have waited for a rank last. */
    public long lasts(int peer) {
        return (long) WORDS.getOpaque(lasts, peer);
    }
}
