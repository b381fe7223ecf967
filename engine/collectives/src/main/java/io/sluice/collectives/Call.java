package io.sluice.collectives;

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
        long @Nullable [] received) {

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
