package io.sluice.collectives.plan;

import java.util.List;

/**
 * The steps of one rank for one collective. They are taken in order; a step that receives waits for its message, one
 * that sends does not wait. Messages between two ranks arrive in the order in which they were sent. Immutable.
 */
public final class Plan {
    private final Step[] steps;
    private final long workBytes;
    private final long receivedBytes;

    Plan(List<Step> steps, long workBytes) {
        this.steps = steps.toArray(Step[]::new);
        this.workBytes = workBytes;
        this.receivedBytes = steps.stream()
                .filter(step -> step.kind() == Step.Kind.RECEIVE || step.kind() == Step.Kind.REDUCE)
                .mapToLong(Step::length)
                .sum();
    }

    /** Returns the number of steps. */
    public int size() {
        return steps.length;
    }

    /** Returns a step. */
    public Step step(int index) {
        return steps[index];
    }

    /** Returns how much memory the steps need besides source and target, in bytes. */
    public long workBytes() {
        return workBytes;
    }

    /** Returns how many bytes arrive from other ranks. */
    public long receivedBytes() {
        return receivedBytes;
    }
}
