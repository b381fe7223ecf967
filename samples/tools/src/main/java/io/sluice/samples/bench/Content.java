package io.sluice.samples.bench;

import java.util.List;

/** What the transfers move, and whether it has arrived. */
interface Content extends AutoCloseable {

    /** Makes the next round's bytes differ from those of the last, where each transfer does not do so itself. */
    default void renew() {}

    /**
     * Compares what has arrived in a round, in another way than the one that is measured.
     *
     * @param submitted how many transfers each connection has made in the round
     * @return how many elements are not what was sent
     */
    long differing(List<Long> submitted);

    @Override
    default void close() {}
}
