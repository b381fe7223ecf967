package io.sluice.samples.compare;

/**
 * How the ranks of a collective share processors, on both sides alike.
 *
 * @param processors to which ranks are bound in turn
 * @param oversubscription ranks for each of them
 */
record RankSharing(int ranks, int processors, double oversubscription) {
    static RankSharing of(int ranks, Pinning pinning) {
        int processors = Math.max(1, pinning.processors().cardinality());
        return new RankSharing(ranks, processors, (double) ranks / processors);
    }
}
