package io.sluice.samples.dashboard;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.StringJoiner;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The dashboard without Grafana: a page with one chart a panel, in the dashboard's rows, drawn from what Prometheus answered. It
 * is a folder of files that need no server.
 */
public final class PreviewPage {

    /** Pixels, as {@code index.html} has them. */
    public static final int WIDTH = 1600;

    private static final int PADDING = 12;
    private static final int ROW_TITLE = 44;
    private static final int PANEL = 248;
    private static final int SMALL_PANEL = 128;
    private static final int COLUMNS = 3;

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Pattern LABEL = Pattern.compile("\\{\\{(\\w+)\\}\\}");

    private final ObjectNode data = JSON.createObjectNode();
    private final ArrayNode panels = data.putArray("panels");

    /**
     * Adds a panel.
     *
     * @param panel what it is
     * @param answers what Prometheus has answered to each of its queries
     */
    public void add(DashboardPanel panel, List<RangeAnswer> answers) {
        JsonNode defaults = panel.json().at("/fieldConfig/defaults");
        ObjectNode drawn = panels.addObject()
                .put("row", panel.row())
                .put("title", panel.title())
                .put("type", panel.json().path("type").asText())
                .put("unit", defaults.path("unit").asText())
                .put("stacked", defaults.at("/custom/stacking/mode").asText().equals("normal"))
                .put(
                        "logarithmic",
                        defaults.at("/custom/scaleDistribution/type").asText().equals("log"));
        ObjectNode units = drawn.putObject("units");
        for (JsonNode override : panel.json().at("/fieldConfig/overrides")) {
            JsonNode property = override.at("/properties/0");
            if (property.path("id").asText().equals("unit")) {
                units.set(override.at("/matcher/options").asText(), property.path("value"));
            }
        }
        ArrayNode series = drawn.putArray("series");
        for (RangeAnswer answer : answers) {
            for (JsonNode one : answer.series()) {
                ObjectNode line = series.addObject()
                        .put("name", named(answer.legend(), one.path("metric")))
                        .put("labels", joined(one.path("metric")));
                line.set("points", points(one.path("values")));
            }
        }
    }

    /**
     * How high the page is.
     *
     * @param rows that are drawn; all if there are none
     * @return pixels, as {@code index.html} lays it out
     */
    public int height(List<String> rows) {
        Map<String, int[]> counts = new LinkedHashMap<>();
        for (JsonNode panel : panels) {
            int[] of = counts.computeIfAbsent(panel.path("row").asText(), any -> new int[3]);
            of[
                    panel.path("type").asText().equals("stat")
                            ? 0
                            : panel.path("type").asText().equals("table") ? 1 : 2]++;
        }
        int height = 2 * PADDING;
        for (Map.Entry<String, int[]> row : counts.entrySet()) {
            if (rows.isEmpty() || rows.contains(row.getKey())) {
                int[] of = row.getValue();
                height += ROW_TITLE
                        + Math.ceilDiv(of[0], COLUMNS) * SMALL_PANEL
                        + (of[1] + Math.ceilDiv(of[2], COLUMNS)) * PANEL;
            }
        }
        return height;
    }

    /** Writes the page; what the folder has of an older one is replaced. */
    public Path write(Path folder) throws IOException {
        Files.createDirectories(folder);
        for (String file : List.of("index.html", "preview.js")) {
            try (InputStream in = PreviewPage.class.getResourceAsStream(file)) {
                Files.copy(in, folder.resolve(file), StandardCopyOption.REPLACE_EXISTING);
            }
        }
        Files.write(folder.resolve("echarts.min.js"), charts());
        Files.writeString(
                folder.resolve("data.js"),
                "const dashboard = " + JSON.writeValueAsString(data) + ";\n",
                StandardCharsets.UTF_8);
        return folder.resolve("index.html");
    }

    private static ArrayNode points(JsonNode values) {
        ArrayNode points = JSON.createArrayNode();
        for (JsonNode value : values) {
            double number = RangeAnswer.number(value.path(1));
            ArrayNode point = points.addArray().add(Math.round(value.path(0).asDouble() * 1000));
            if (Double.isFinite(number)) {
                point.add(number);
            } else {
                point.addNull();
            }
        }
        return points;
    }

    private static String named(String legend, JsonNode labels) {
        return LABEL.matcher(legend)
                .replaceAll(label ->
                        Matcher.quoteReplacement(labels.path(label.group(1)).asText()));
    }

    private static String joined(JsonNode labels) {
        StringJoiner joiner = new StringJoiner(" ");
        labels.forEach(label -> joiner.add(label.asText()));
        return joiner.toString();
    }

    /** The chart library, out of its WebJar. */
    private static byte[] charts() throws IOException {
        Path webJar = Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
                .map(Path::of)
                .filter(jar -> String.valueOf(jar.getFileName()).startsWith("echarts-"))
                .findFirst()
                .orElseThrow();
        try (JarFile jar = new JarFile(webJar.toFile())) {
            JarEntry script = jar.stream()
                    .filter(entry -> entry.getName().endsWith("/echarts.min.js"))
                    .findFirst()
                    .orElseThrow();
            try (InputStream in = jar.getInputStream(script)) {
                return in.readAllBytes();
            }
        }
    }
}
