package io.sluice.collectives;

import io.sluice.collectives.link.Link;
import io.sluice.collectives.plan.Plan;
import io.sluice.collectives.plan.Step;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Faults that {@link io.sluice.testkit.MutatedClasses} builds in: each gets what a method returns, and the object. Public, as all packages of
 * the module call it.
 */
public final class Mutations {
    private static final int EARLY_IN = 3;

    private static final AtomicInteger LOOKS = new AtomicInteger();
    private static final Map<Link, Long> FIRST_PLACES = new ConcurrentHashMap<>();
    private static final ThreadLocal<Boolean> LOOKING = ThreadLocal.withInitial(() -> false);

    private Mutations() {}

    /** What arrives is stored where it should be added. */
    public static Step droppedContribution(Step step, Plan plan) {
        return step.kind() == Step.Kind.REDUCE ? with(step, Step.Kind.RECEIVE, step.toOffset()) : step;
    }

    /** Of two messages of a rank each is stored in the place of the other. */
    public static Step swappedChunks(Step step, Plan plan) {
        if (step.kind() != Step.Kind.RECEIVE || LOOKING.get()) {
            return step;
        }
        LOOKING.set(true);
        try {
            @Nullable Step first = null;
            for (int i = 0; i < plan.size(); i++) {
                Step each = plan.step(i);
                if (each.kind() != Step.Kind.RECEIVE || each.length() != step.length() || each.length() == 0) {
                    continue;
                }
                if (first == null) {
                    first = each;
                } else if (each.toOffset() != first.toOffset()) {
                    return step == first
                            ? with(step, step.kind(), each.toOffset())
                            : step == each ? with(step, step.kind(), first.toOffset()) : step;
                }
            }
            return step;
        } finally {
            LOOKING.set(false);
        }
    }

    private static Step with(Step step, Step.Kind kind, long toOffset) {
        return new Step(
                kind,
                step.peer(),
                step.from(),
                step.fromOffset(),
                step.to(),
                toOffset,
                step.length(),
                step.messageFirst());
    }

    /** A message is taken before it has arrived. */
    public static boolean earlySignal(boolean arrived, Link link) {
        return arrived || LOOKS.incrementAndGet() % EARLY_IN == 0;
    }

    /** The bytes of a link's first message are taken again and again. */
    public static long staleBuffer(long place, Link link) {
        return FIRST_PLACES.computeIfAbsent(link, first -> place);
    }

    /** What is stored, is stored one byte before its place. */
    public static long offsetByOne(long offset, Step step) {
        return offset == 0 ? 0 : offset - 1;
    }
}
