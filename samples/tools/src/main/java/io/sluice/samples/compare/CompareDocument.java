package io.sluice.samples.compare;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * A run with its figures, from which tables and charts are made without measuring again. As JSON its fields are in snake
 * case.
 *
 * @param format of this document; a change that a reader has to know of raises it
 * @param sluice version of this program
 * @param started when the run began, as ISO 8601 has it
 * @param command the command line that began it
 * @param programs what other programs say of their versions
 * @param rounds in each of which everything was measured once
 * @param durationSeconds of a measurement
 * @param warmupSeconds before it
 * @param where on which processors the two sides ran, in words
 * @param interrupted whether it ended before all rounds were made
 */
public record CompareDocument(
        int format,
        String sluice,
        String started,
        String command,
        JsonNode machine,
        Map<String, String> programs,
        int rounds,
        @JsonProperty("duration_seconds") double durationSeconds,
        @JsonProperty("warmup_seconds") double warmupSeconds,
        String where,
        boolean interrupted,
        List<ComparisonResult> comparisons) {
    private static final int FORMAT = 1;
    private static final int SHORTEST_NAME = 20;
    private static final double NANOS_PER_SECOND = 1e9;
    private static final ObjectMapper JSON = new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT);

    public CompareDocument {
        programs = Map.copyOf(programs);
        comparisons = List.copyOf(comparisons);
    }

    static CompareDocument of(
            RunDescription run, Map<String, String> programs, boolean interrupted, List<ComparisonResult> comparisons) {
        return new CompareDocument(
                FORMAT,
                run.version(),
                run.started().toString(),
                run.command(),
                run.machine(),
                programs,
                run.timing().rounds(),
                run.timing().duration().toNanos() / NANOS_PER_SECOND,
                run.timing().warmup().toNanos() / NANOS_PER_SECOND,
                run.where(),
                interrupted,
                comparisons);
    }

    /**
     * The document that a text is.
     *
     * @throws IllegalArgumentException if it is none; the message says why
     */
    public static CompareDocument parse(String text) {
        try {
            CompareDocument document = JSON.readValue(text, CompareDocument.class);
            if (document.format != FORMAT) {
                throw new IllegalArgumentException(
                        "it has format " + document.format + ", and this program reads " + FORMAT);
            }
            return document;
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException("it is no result of 'compare --json': " + e.getOriginalMessage(), e);
        }
    }

    public String json() {
        try {
            return JSON.writeValueAsString(this) + "\n";
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("figures can always be written", e);
        }
    }

    /** As a table for people: a line for each comparison, and one more for each that has a problem. */
    public String table() {
        int width =
                comparisons.stream().mapToInt(result -> result.title().length()).reduce(SHORTEST_NAME, Math::max);
        StringBuilder table = new StringBuilder();
        append(table, width, "comparison", "api", "in flight", "sluice", "peer", "unit", "ratio", "goal", "met");
        for (ComparisonResult result : comparisons) {
            List<String> cells = new ArrayList<>(result.cells());
            cells.add(2, Integer.toString(result.inflight()));
            append(table, width, cells.toArray());
            String problem = result.problem();
            table.append(problem == null ? "" : "    " + problem + System.lineSeparator());
        }
        if (interrupted) {
            table.append("Interrupted: these are the figures until then.").append(System.lineSeparator());
        }
        return table.toString();
    }

    private static void append(StringBuilder table, int width, Object... cells) {
        String format = "%-" + width + "s %-8s %9s %12s %12s  %-11s %7s  %-8s %s";
        table.append(String.format(Locale.ROOT, format, cells).stripTrailing()).append(System.lineSeparator());
    }

    /** Whether all that was to be measured was, and nothing went wrong. Comparisons left out do not count. */
    @JsonIgnore
    public boolean isComplete() {
        return !interrupted && comparisons.stream().noneMatch(ComparisonResult::failed);
    }

    /** Whether every goal was measured and is met. */
    public boolean meetsGoals() {
        return comparisons.stream().allMatch(ComparisonResult::isGoalMet);
    }

    /** Returns one line that names the measurements, their rounds and the machine. */
    public String title() {
        return "medians of " + rounds + (rounds == 1 ? " round, " : " rounds, ") + seconds(durationSeconds) + " after "
                + seconds(warmupSeconds) + " of warm-up; " + where;
    }

    private static String seconds(double seconds) {
        long millis = Math.round(seconds * 1000);
        return millis % 1000 == 0 ? millis / 1000 + " s" : millis + " ms";
    }

    /**
     * The circumstances of a run.
     *
     * @param machine facts about the machine, an object
     * @param where on which processors the two sides ran, in words
     */
    public record RunDescription(
            String version, Instant started, String command, JsonNode machine, Timing timing, String where) {}
}
