package io.sluice.samples.bench;

import io.sluice.collectives.Algorithm;
import io.sluice.collectives.ElementType;
import io.sluice.collectives.ReduceOperation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * What ranks measure, the same on each.
 *
 * @param ranks how many there are
 * @param sizes in bytes
 * @param algorithm for all, or {@link Algorithm#AUTO}
 * @param eachAlgorithm whether to measure every possible algorithm in its place
 * @param persistent whether collectives are prepared once and started again
 * @param verify whether all results are checked
 * @param duration how long to measure each case
 * @param warmup how long to run before
 * @param processors those that the ranks share
 */
public record CollectivePlan(
        List<BenchCollective> collectives,
        int ranks,
        List<Long> sizes,
        ElementType type,
        ReduceOperation operation,
        Algorithm algorithm,
        boolean eachAlgorithm,
        boolean persistent,
        boolean verify,
        Duration duration,
        Duration warmup,
        int processors) {
    /** With checks, buffers of so many bytes are used one after the other before their content is looked at. */
    private static final long ROUND_BYTES = 4L << 20;

    private static final long MOST_SLOTS = 256;
    private static final int LINE = 64;

    public CollectivePlan {
        collectives = List.copyOf(collectives);
        sizes = List.copyOf(sizes);
    }

    /**
     * One measurement.
     *
     * @param count elements: of a block, where there is one for each rank
     * @param size bytes of all
     */
    record Case(BenchCollective collective, Algorithm algorithm, long count, long size) {}

    /** All, in the order in which every rank measures them. */
    List<Case> cases() {
        List<Case> cases = new ArrayList<>();
        for (BenchCollective collective : collectives) {
            if (collective == BenchCollective.BARRIER) {
                algorithms(collective).forEach(chosen -> cases.add(new Case(collective, chosen, 0, 0)));
                continue;
            }
            for (long size : sizes) {
                long parts = collective.hasBlocks() ? ranks : 1;
                long count = Math.ceilDiv(size, parts * type.bytes());
                for (Algorithm chosen : algorithms(collective)) {
                    cases.add(new Case(collective, chosen, count, count * parts * type.bytes()));
                }
            }
        }
        return cases;
    }

    private List<Algorithm> algorithms(BenchCollective collective) {
        return eachAlgorithm ? collective.algorithms() : List.of(algorithm);
    }

    /** Buffers of a case that are used one after the other. */
    int slots(Case measured) {
        long bytes = Math.max(1, measured.size());
        return verify ? (int) Math.clamp(ROUND_BYTES / bytes, 1, MOST_SLOTS) : 1;
    }

    /** The distance of buffers of so many bytes. */
    static long stride(long bytes) {
        return Math.ceilDiv(Math.max(1, bytes), LINE) * LINE;
    }

    /** The most bytes of buffers that all ranks have at a time; throws {@link ArithmeticException} beyond 2<sup>63</sup>. */
    public long bytes() {
        long most = 0;
        for (Case measured : cases()) {
            long each = Math.multiplyExact(2L * slots(measured), stride(measured.size()));
            most = Math.max(most, Math.multiplyExact(each, ranks));
        }
        return most;
    }
}
