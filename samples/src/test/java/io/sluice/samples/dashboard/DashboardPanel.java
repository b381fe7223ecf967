package io.sluice.samples.dashboard;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/**
 * A panel of the dashboard that the metrics module ships.
 *
 * @param row the row's title
 * @param json as Grafana reads it
 */
public record DashboardPanel(String row, JsonNode json) {

    private static final String DASHBOARD = "/META-INF/sluice/grafana/dashboards/sluice.json";
    private static final Pattern NEEDS_DEVICE = Pattern.compile("No data without (an RDMA device|a GPU)\\.$");

    /**
     * A PromQL expression of the panel.
     *
     * @param expression any job, instance, transport and peer
     * @param legend with labels in double braces
     */
    public record Query(String expression, String legend) {}

    /** All, from top to bottom. */
    public static List<DashboardPanel> all() {
        List<DashboardPanel> panels = new ArrayList<>();
        String row = "";
        for (JsonNode panel : read().path("panels")) {
            if (panel.path("type").asText().equals("row")) {
                row = panel.path("title").asText();
            } else {
                panels.add(new DashboardPanel(row, panel));
            }
        }
        return panels;
    }

    private static JsonNode read() {
        try (InputStream in = DashboardPanel.class.getResourceAsStream(DASHBOARD)) {
            return new ObjectMapper().readTree(in);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public String title() {
        return json.path("title").asText();
    }

    /** Whether it may be empty on a machine without an RDMA device: its description says so to users, too. */
    public boolean needsDevice() {
        return NEEDS_DEVICE.matcher(json.path("description").asText()).find();
    }

    /** Its queries, with the dashboard's variables put in. */
    public List<Query> queries(String rateInterval) {
        List<Query> queries = new ArrayList<>();
        for (JsonNode target : json.path("targets")) {
            queries.add(new Query(
                    target.path("expr")
                            .asText()
                            .replace("$__rate_interval", rateInterval)
                            .replaceAll("\"\\$(job|instance|transport|peer)\"", "\".*\""),
                    target.path("legendFormat").asText()));
        }
        return queries;
    }

    @Override
    public String toString() {
        return row + ": " + title();
    }
}
