package io.sluice.samples.bench;

import java.util.List;

/** What the transfers move, and whether it has arrived. */
interface Content extends AutoCloseable {

    /** Makes the next round's bytes differ from what the last one has left behind. */
    void renew();

    /**
     * Compares what has arrived in a round, in another way than the one that is measured.
     *
     * @param submitted how many transfers each connection has made in the round
     * @return how many elements are not what was sent
     */
    long differing(List<Long> submitted);

    @Override
    void close();
}
