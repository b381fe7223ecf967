package io.sluice.samples.bench;

import io.sluice.collectives.Algorithm;
import io.sluice.collectives.AlgorithmTable;
import io.sluice.collectives.CollectiveKind;
import java.util.List;
import java.util.Locale;

/** The collective to measure. Those with a root have rank 0 for it. */
public enum BenchCollective {
    ALLREDUCE(CollectiveKind.ALL_REDUCE),
    REDUCESCATTER(CollectiveKind.REDUCE_SCATTER),
    ALLGATHER(CollectiveKind.ALL_GATHER),
    BROADCAST(CollectiveKind.BROADCAST),
    REDUCE(CollectiveKind.REDUCE),
    GATHER(CollectiveKind.GATHER),
    SCATTER(CollectiveKind.SCATTER),
    ALLTOALL(CollectiveKind.ALL_TO_ALL),
    BARRIER(CollectiveKind.BARRIER),
    /** Each rank sends to the next one and receives from the one before. */
    SENDRECV(CollectiveKind.SEND);

    private final CollectiveKind kind;

    BenchCollective(CollectiveKind kind) {
        this.kind = kind;
    }

    CollectiveKind kind() {
        return kind;
    }

    /** The algorithms that serve it. */
    public List<Algorithm> algorithms() {
        return List.copyOf(AlgorithmTable.possible(kind));
    }

    /** Whether elements of the ranks are combined. */
    boolean isReduction() {
        return this == ALLREDUCE || this == REDUCESCATTER || this == REDUCE;
    }

    /** Whether its size is that of a block for each rank, together. */
    boolean hasBlocks() {
        return switch (this) {
            case REDUCESCATTER, ALLGATHER, GATHER, SCATTER, ALLTOALL -> true;
            case ALLREDUCE, BROADCAST, REDUCE, BARRIER, SENDRECV -> false;
        };
    }

    /** Bytes that pass the busiest link for each byte of the size, as nccl-tests counts them. */
    public double busFactor(int ranks) {
        double others = (double) (ranks - 1) / ranks;
        return switch (this) {
            case ALLREDUCE -> 2 * others;
            case REDUCESCATTER, ALLGATHER, GATHER, SCATTER, ALLTOALL -> others;
            case BROADCAST, REDUCE, SENDRECV -> 1;
            case BARRIER -> 0;
        };
    }

    /** Its name as an option's value. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
