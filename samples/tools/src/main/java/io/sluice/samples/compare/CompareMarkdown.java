package io.sluice.samples.compare;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** A run as Markdown: the machine, and a table for each topic. */
public final class CompareMarkdown {
    /** The marks in a document between which the tables are renewed. */
    static final String BEGIN = "<!-- figures: written by ./sluice compare --markdown -->";

    static final String END = "<!-- /figures -->";

    private CompareMarkdown() {}

    static String of(CompareDocument run) {
        String day = run.started().substring(0, Math.min(run.started().length(), "2000-01-01".length()));
        StringBuilder text = new StringBuilder(
                "Measured " + day + " with sluice " + run.sluice() + ": " + run.title() + ". " + machine(run) + "\n");
        for (Topic topic : Topic.values()) {
            List<ComparisonResult> results = run.comparisons().stream()
                    .filter(result -> result.topic().equals(topic.toString()))
                    .toList();
            if (!results.isEmpty()) {
                text.append("\n### ").append(capitalized(topic.description())).append("\n\n");
                text.append("| comparison | API | sluice | peer | unit | ratio | goal | met |\n");
                text.append("|---|---|---:|---:|---|---:|---|---|\n");
                results.forEach(result -> text.append(row(result)));
            }
        }
        return text.toString();
    }

    /** The tables between the marks by which they are found again. */
    public static String marked(CompareDocument run) {
        return renewed(BEGIN + "\n" + END + "\n", run);
    }

    /**
     * A document whose tables are replaced by those of a run.
     *
     * @throws IllegalArgumentException if it has no marks for tables
     */
    public static String renewed(String document, CompareDocument run) {
        if (!hasMarks(document)) {
            throw new IllegalArgumentException("it has no marks for tables: " + BEGIN + " and " + END);
        }
        int begin = document.indexOf(BEGIN) + BEGIN.length();
        return document.substring(0, begin) + "\n\n" + of(run) + "\n"
                + document.substring(document.indexOf(END, begin));
    }

    /** Whether it has marks, one after the other. */
    public static boolean hasMarks(String document) {
        int begin = document.indexOf(BEGIN);
        return begin >= 0 && document.indexOf(END, begin) >= 0;
    }

    private static String machine(CompareDocument run) {
        StringBuilder text = new StringBuilder();
        for (String fact : List.of("cpu_model", "processors", "kernel", "jvm")) {
            if (run.machine().hasNonNull(fact)) {
                text.append(text.isEmpty() ? "" : ", ")
                        .append(fact.equals("processors") ? "processors: " : "")
                        .append(run.machine().get(fact).asText());
            }
        }
        run.programs().entrySet().stream()
                .sorted(Map.Entry.comparingByKey())
                .forEach(program ->
                        text.append("; ").append(program.getKey()).append(": ").append(program.getValue()));
        return text.append(".").toString();
    }

    private static String row(ComparisonResult result) {
        List<String> cells = new ArrayList<>(result.cells());
        cells.set(0, "`" + result.name() + "`" + result.shared());
        if (result.problem() != null) {
            cells.set(cells.size() - 1, cell(result));
        }
        return "| " + String.join(" | ", cells) + " |\n";
    }

    private static String cell(ComparisonResult result) {
        String met = result.metText();
        return (met.isEmpty() || met.equals("-") ? "" : met + "; ")
                + String.valueOf(result.problem()).replace("|", "\\|").replace("\n", " ");
    }

    private static String capitalized(String text) {
        return text.substring(0, 1).toUpperCase(Locale.ROOT) + text.substring(1);
    }
}
