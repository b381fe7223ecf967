package io.sluice.collectives.plan;

import java.util.List;

/**
 * The steps of one rank for one collective. They are taken in order; a step that receives waits for its message, one
 * that sends does not wait. Messages between two ranks arrive in the order in which they were sent. Immutable.
 */
public final class Plan {
    private final Step[] steps;
    private final long workBytes;
    private final boolean receives;
    private final long receivedBytes;

    Plan(List<Step> steps, long workBytes) {
        this.steps = steps.toArray(Step[]::new);
        this.workBytes = workBytes;
        this.receives = steps.stream().anyMatch(Step::receives);
        this.receivedBytes =
                steps.stream().filter(Step::receives).mapToLong(Step::length).sum();
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

    /** Returns whether messages arrive from other ranks, be they empty. */
    public boolean receives() {
        return receives;
    }

    /** Returns how many bytes arrive from other ranks. */
    public long receivedBytes() {
        return receivedBytes;
    }
}
