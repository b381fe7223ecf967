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

/** A run as a web page that needs nothing but itself: tables, charts, the machine, and the command lines. */
final class ComparePage {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String WEB_JAR = "/META-INF/maven/org.webjars/echarts/pom.properties";

    private ComparePage() {}

    /** The page. */
    static String of(CompareDocument run) throws IOException {
        String template = resource("page/index.html");
        Map<String, String> parts = new LinkedHashMap<>();
        parts.put("{{style}}", resource("page/page.css"));
        parts.put("{{title}}", escaped(run.title()));
        parts.put("{{facts}}", facts(run));
        parts.put("{{rows}}", rows(run.comparisons()));
        parts.put("{{commands}}", commands(run.comparisons()));
        parts.put("{{charts}}", json(Chart.of(run)));
        parts.put("{{library}}", script(library()));
        parts.put("{{program}}", script(resource("page/page.js")));
        StringBuilder page = new StringBuilder();
        int from = 0;
        // Once through the template alone: what is put in may look like another part.
        for (int begin = template.indexOf("{{"); begin >= 0; begin = template.indexOf("{{", from)) {
            int end = template.indexOf("}}", begin) + 2;
            page.append(template, from, begin).append(parts.getOrDefault(template.substring(begin, end), ""));
            from = end;
        }
        return page.append(template.substring(from)).toString();
    }

    private static String facts(CompareDocument run) {
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
        StringBuilder html = new StringBuilder();
        facts.forEach((name, value) -> html.append("<dt>")
                .append(escaped(name))
                .append("</dt><dd>")
                .append(escaped(value))
                .append("</dd>\n"));
        return html.toString();
    }

    private static String rows(List<ComparisonResult> results) {
        StringBuilder html = new StringBuilder();
        for (ComparisonResult result : results) {
            html.append("<tr class=\"")
                    .append(result.isGoalMet() ? "" : "unmet")
                    .append("\">");
            for (String cell : List.of(
                    result.name(),
                    result.api(),
                    result.text(result.sluice().median()),
                    result.text(result.peer().median()),
                    result.unit(),
                    result.ratioText(),
                    result.goal() == null ? "" : result.goal().toString(),
                    result.metText())) {
                html.append("<td>").append(escaped(cell)).append("</td>");
            }
            html.append("</tr>\n");
            if (result.problem() != null) {
                html.append("<tr><td class=\"problem\" colspan=\"8\">")
                        .append(escaped(result.problem()))
                        .append("</td></tr>\n");
            }
        }
        return html.toString();
    }

    private static String commands(List<ComparisonResult> results) {
        Map<String, List<String>> all = new LinkedHashMap<>();
        for (ComparisonResult result : results) {
            all.put(result.sluice().measured(), result.sluice().commands());
            all.put(result.peer().measured(), result.peer().commands());
        }
        StringBuilder html = new StringBuilder();
        all.forEach((measured, lines) -> {
            if (!lines.isEmpty()) {
                html.append("<h3>")
                        .append(escaped(measured))
                        .append("</h3><pre>")
                        .append(escaped(String.join("\n", lines)))
                        .append("</pre>\n");
            }
        });
        return html.toString();
    }

    private static String json(List<Chart> charts) {
        try {
            // Nothing in it ends the script element that it stands in.
            return JSON.writeValueAsString(charts).replace("<", "\\u003c");
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("charts can always be written", e);
        }
    }

    private static String escaped(String text) {
        return text.replace("&", "&amp;")
                .replace("<", "&lt;")
                .replace(">", "&gt;")
                .replace("\"", "&quot;");
    }

    /** Within a script element nothing ends it but its end tag; in a string of JavaScript the backslash says nothing. */
    private static String script(String text) {
        return text.replace("</", "<\\/").replace("<!--", "<\\!--");
    }

    private static String library() throws IOException {
        Properties artifact = new Properties();
        try (InputStream in = ComparePage.class.getResourceAsStream(WEB_JAR)) {
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
