package io.sluice.samples.compare;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** The best of several measurements, none of which is made for this alone. */
record BestPeer(List<PeerCollectives> peers, Quantity quantity) implements Measurement {
    BestPeer {
        peers = List.copyOf(peers);
    }

    @Override
    public Program program() {
        return Program.SLUICE;
    }

    @Override
    public String label() {
        return "the best peer of " + peers.getFirst().collectives().description();
    }

    @Override
    public Figures run(BenchEnvironment environment) throws MeasurementFailedException {
        throw new MeasurementFailedException(label() + " is one of those that are measured");
    }

    /** The one with the best median; {@code null} if none has any. */
    @Nullable
    PeerCollectives in(InterleavedRounds rounds) {
        PeerCollectives best = null;
        double bestMedian = 0;
        for (PeerCollectives peer : peers) {
            Double median = Series.median(rounds.of(peer).values(quantity));
            if (median != null && (best == null || isBetter(median, bestMedian))) {
                best = peer;
                bestMedian = median;
            }
        }
        return best;
    }

    private boolean isBetter(double median, double than) {
        return quantity == Quantity.MEDIAN_MICROSECONDS ? median < than : median > than;
    }
}
