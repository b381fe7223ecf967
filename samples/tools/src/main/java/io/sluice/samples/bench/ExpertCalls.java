package io.sluice.samples.bench;

import org.jspecify.annotations.Nullable;

/**
 * The calls of a mode on one rank, and their memory. A block is some dispatches, of which the last one's result stays, and then as
 * many combines of that. Operations run on the team's loop, all else while nothing runs.
 */
interface ExpertCalls extends AutoCloseable {
    /**
     * Times by the clock of the slowest GPU, in microseconds, of calls that follow each other.
     *
     * @param round a dispatch and a combine
     */
    record DeviceMicros(double dispatch, double combine, double round) {}

    OperationLoop.Operation dispatch();

    OperationLoop.Operation combine();

    /** Gets ready for a block: writes its tokens, and spoils where the sums go. */
    void fill(long block);

    /** What the last dispatch has brought, where the processor reads it. */
    ExpertRows rows();

    /** Has the experts of this rank make what combine sends of what {@link #rows} has given. */
    void answer(ExpertRows rows, long block);

    /** How many of this rank's tokens the last combine has given a wrong sum. */
    long wrongSums(long block);

    /** What carries the vectors; {@code null} on GPUs, whose kernels do. */
    @Nullable
    String backend();

    /**
     * Measures by the clock of the GPU; all ranks call it.
     *
     * @return {@code null} on the host
     */
    @Nullable
    DeviceMicros deviceMicros(RankControl control);

    @Override
    void close();
}
