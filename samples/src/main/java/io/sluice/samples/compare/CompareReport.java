package io.sluice.samples.compare;

import java.util.List;
import java.util.stream.Collectors;

/** What a run of all rounds has told. */
public final class CompareReport {

    private final List<ComparisonResult> results;
    private final boolean brokenOff;

    CompareReport(List<ComparisonResult> results, boolean brokenOff) {
        this.results = List.copyOf(results);
        this.brokenOff = brokenOff;
    }

    /** As a table for people. */
    public String table() {
        return ComparisonTable.of(results)
                + (brokenOff ? "Interrupted: these are the figures until then." + System.lineSeparator() : "");
    }

    /** As JSON, an object a line for each comparison. */
    public String json() {
        return results.stream().map(result -> result.toJson() + "\n").collect(Collectors.joining());
    }

    /** Whether all that was to be measured was, and nothing went wrong. What was left out was not to be measured. */
    public boolean isComplete() {
        return !brokenOff && results.stream().noneMatch(ComparisonResult::failed);
    }

    /** Whether every goal was measured and is met. */
    public boolean meetsGoals() {
        return results.stream().allMatch(ComparisonResult::isGoalMet);
    }
}
