package io.sluice.samples.bench;

/**
 * What is measured on GPUs.
 *
 * @param place this rank's GPU, by its UUID
 * @param graph how many collectives a graph of the driver has; 0 to start each by itself
 */
public record GpuMeasuring(MemoryPlace place, int graph) {
    /** The most of a graph: all are under way at a time. */
    public static final int MOST_OF_A_GRAPH = 100;

    /** Whether GPUs do it. */
    public static boolean serves(BenchCollective collective) {
        return switch (collective) {
            case GATHER, SCATTER, SENDRECV -> false;
            case ALLREDUCE, REDUCESCATTER, REDUCE, ALLGATHER, ALLTOALL, BROADCAST, BARRIER -> true;
        };
    }
}
