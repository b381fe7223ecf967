package io.sluice.samples.compare;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.jspecify.annotations.Nullable;

/** A run as a web page in one file: the page's script draws the tables and charts from the data in it. */
public final class ComparePage {
    private static final ObjectMapper JSON = new ObjectMapper();

    private ComparePage() {}

    private record Row(
            List<String> cells, boolean met, @Nullable String problem) {}

    private record Data(
            String title,
            Map<String, String> facts,
            List<Row> rows,
            Map<String, List<String>> commands,
            List<Chart> charts) {}

    /** The page, which needs no other file. */
    public static String of(CompareDocument run) throws IOException {
        List<Row> rows = run.comparisons().stream().map(ComparePage::row).toList();
        Data data = new Data(run.title(), facts(run), rows, commands(run.comparisons()), Chart.of(run));
        // The library first: no mark is left in what it and the data contain.
        return resource("page.html")
                .replace("<!-- library -->", script(library()))
                .replace("<!-- data -->", json(data));
    }

    private static Map<String, String> facts(CompareDocument run) {
        Map<String, String> facts = new LinkedHashMap<>();
        facts.put("sluice", run.sluice());
        facts.put("started", run.started());
        facts.put("command", run.command());
        run.machine()
                .properties()
                .forEach(fact -> facts.put(
                        fact.getKey().replace('_', ' '), fact.getValue().asText()));
        facts.putAll(run.programs());
        if (run.interrupted()) {
            facts.put("interrupted", "these are the figures until then");
        }
        return facts;
    }

    private static Row row(ComparisonResult result) {
        return new Row(result.cells(), result.isGoalMet(), result.problem());
    }

    private static Map<String, List<String>> commands(List<ComparisonResult> results) {
        Map<String, List<String>> all = new LinkedHashMap<>();
        for (ComparisonResult result : results) {
            all.put(result.sluice().measured(), result.sluice().commands());
            all.put(result.peer().measured(), result.peer().commands());
        }
        all.values().removeIf(List::isEmpty);
        return all;
    }

    private static String json(Data data) {
        try {
            // Nothing in it ends the script element that it stands in.
            return JSON.writeValueAsString(data).replace("<", "\\u003c");
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("figures can always be written", e);
        }
    }

    /** Within a script element nothing ends it but its end tag; in a string of JavaScript the backslash says nothing. */
    private static String script(String text) {
        return text.replace("</", "<\\/").replace("<!--", "<\\!--");
    }

    private static String library() throws IOException {
        Properties artifact = new Properties();
        try (InputStream in =
                ComparePage.class.getResourceAsStream("/META-INF/maven/org.webjars/echarts/pom.properties")) {
            if (in == null) {
                throw new FileNotFoundException("the library of charts is not on the class path");
            }
            artifact.load(in);
        }
        return resource("/META-INF/resources/webjars/echarts/" + artifact.getProperty("version") + "/echarts.min.js");
    }

    private static String resource(String name) throws IOException {
        try (InputStream in = ComparePage.class.getResourceAsStream(name)) {
            if (in == null) {
                throw new FileNotFoundException("this program lacks its resource " + name);
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }
}
