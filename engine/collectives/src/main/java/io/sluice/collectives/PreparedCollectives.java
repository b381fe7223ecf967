package io.sluice.collectives;

import java.util.concurrent.atomic.AtomicInteger;

/** Prepares collectives. The channel of each follows from the order, which is the same on all ranks. */
final class PreparedCollectives extends CheckedCollectives<PersistentCollective> {
    private final CalledCollective.Parts parts;
    private final int channels;
    private final AtomicInteger made = new AtomicInteger();

    PreparedCollectives(Ranks ranks, CalledCollective.Parts parts, int channels) {
        super(ranks);
        this.parts = parts;
        this.channels = channels;
    }

    @Override
    PersistentCollective make(Call call, CollectiveOptions options, CollectiveCallback callback) {
        int channel = Math.floorMod(made.getAndIncrement(), channels);
        return new RepeatedCollective(parts, call, options, callback, channel);
    }
}
