package io.sluice.collectives.run;

import io.sluice.engine.SluiceException;
import java.util.Set;
import java.util.TreeSet;

/**
 * Why a rank has revoked its team, in a word that is not 0: the reason in the lowest byte, above it up to three
 * ranks, each plus one in 16 bits: those that failed, or else the one that revoked the team first.
 */
final class Revocation {
    static final int BY_CALL = 1;
    static final int FAILED_RANKS = 2;
    static final int TIMED_OUT = 3;
    static final int MISMATCH = 4;

    private static final int RANK_BITS = 16;
    private static final int MOST_RANKS = 3;
    private static final long RANK_MASK = (1L << RANK_BITS) - 1;

    private Revocation() {}

    static long word(int reason, Set<Integer> ranks) {
        long word = reason;
        int shift = Byte.SIZE;
        for (int rank : ranks) {
            if (shift < Byte.SIZE + MOST_RANKS * RANK_BITS) {
                word |= (rank + 1L) << shift;
                shift += RANK_BITS;
            }
        }
        return word;
    }

    static int reason(long word) {
        return (int) (word & 0xFF);
    }

    /** The error of a collective that another rank has ended. */
    static SluiceException error(int reason, TeamErrors errors, int first, Set<Integer> failed) {
        return switch (reason) {
            case FAILED_RANKS -> errors.failed(failed, null);
            case TIMED_OUT -> errors.timedOutElsewhere(first);
            case MISMATCH -> errors.mismatchElsewhere(first);
            default -> errors.revoked(first);
        };
    }

    static Set<Integer> ranks(long word) {
        Set<Integer> ranks = new TreeSet<>();
        for (int i = 0; i < MOST_RANKS; i++) {
            int rank = (int) (word >>> (Byte.SIZE + i * RANK_BITS) & RANK_MASK);
            if (rank != 0) {
                ranks.add(rank - 1);
            }
        }
        return ranks;
    }
}
