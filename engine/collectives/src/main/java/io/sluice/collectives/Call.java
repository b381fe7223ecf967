package io.sluice.collectives;

import io.sluice.collectives.mapped.MappedRegions;
import io.sluice.collectives.mapped.MappedSteps;
import io.sluice.collectives.mapped.MappedTask;
import io.sluice.collectives.mapped.Operands;
import io.sluice.collectives.plan.Plan;
import io.sluice.collectives.run.Header;
import io.sluice.collectives.run.Run;
import org.jspecify.annotations.Nullable;

/**
 * A collective that was checked and planned.
 *
 * @param source {@code null} if there is none
 * @param target {@code null} if there is none
 * @param operation {@code null} if nothing is reduced
 * @param count what all ranks agree on, if not by peer
 * @param sent what this rank sends to each, or {@code null}
 * @param received what this rank receives from each, or {@code null}
 * @param task what this rank does if all ranks can read each other's memory, or {@code null}
 * @param otherwise the algorithm of the plan
 */
record Call(
        CollectiveKind kind,
        Algorithm algorithm,
        Plan plan,
        @Nullable Buffer source,
        @Nullable Buffer target,
        ElementType type,
        @Nullable ReduceOperation operation,
        int root,
        long count,
        long @Nullable [] sent,
        long @Nullable [] received,
        @Nullable MappedTask task,
        Algorithm otherwise) {

    Call(
            CollectiveKind kind,
            Algorithm algorithm,
            Plan plan,
            @Nullable Buffer source,
            @Nullable Buffer target,
            ElementType type,
            @Nullable ReduceOperation operation,
            int root,
            long count,
            long @Nullable [] sent,
            long @Nullable [] received) {
        this(kind, algorithm, plan, source, target, type, operation, root, count, sent, received, null, algorithm);
    }

    Call(
            CollectiveKind kind,
            Algorithm algorithm,
            Plan plan,
            @Nullable Buffer source,
            @Nullable Buffer target,
            ElementType type,
            @Nullable ReduceOperation operation,
            int root,
            long count) {
        this(kind, algorithm, plan, source, target, type, operation, root, count, null, null);
    }

    /** This call, whose ranks read each other's memory if all can; else its plan counts. */
    Call reading(MappedTask what) {
        return new Call(
                kind,
                Algorithm.MAPPED,
                plan,
                source,
                target,
                type,
                operation,
                root,
                count,
                sent,
                received,
                what,
                algorithm);
    }

    /** Its steps in the memory of other ranks, or null. */
    @Nullable
    MappedSteps steps(MappedRegions regions) {
        MappedTask what = task;
        Buffer from = source;
        Buffer to = target;
        if (what == null || from == null || to == null) {
            return null;
        }
        Operands operands = new Operands(type.code(), operation == null ? 0 : operation.code(), type.bytes());
        return new MappedSteps(regions, what, operands, from.region(), from.offset(), to.region(), to.offset());
    }

    Run.Signature signature(int size) {
        int code = operation == null ? 0 : operation.code();
        return new Run.Signature(
                Header.of(kind.code(), type.code(), code, algorithm.code(), root),
                type.bytes(),
                type.code(),
                code,
                size,
                count,
                sent,
                received);
    }
}
