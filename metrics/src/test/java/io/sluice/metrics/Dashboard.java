package io.sluice.metrics;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/**
 * The dashboard, as far as tests look at it.
 *
 * @param json all of it
 * @param rows titles, from top to bottom
 * @param panels all but the rows, from top to bottom
 */
record Dashboard(JsonNode json, List<String> rows, List<Panel> panels) {

    /** A panel. */
    record Panel(JsonNode json) {
        int id() {
            return json.path("id").asInt();
        }

        String title() {
            return json.path("title").asText();
        }

        Stream<Query> queries() {
            return children(json.path("targets")).map(Query::new);
        }

        @Override
        public String toString() {
            return "panel " + id() + " (" + title() + ")";
        }
    }

    /** The PromQL expressions of a panel. */
    record Query(JsonNode json) {
        String expression() {
            return json.path("expr").asText();
        }

        String legend() {
            return json.path("legendFormat").asText();
        }

        /** As Prometheus itself understands it, for any job, instance, transport and peer. */
        String expressionOver(String rateInterval) {
            return expression()
                    .replace("$__rate_interval", rateInterval)
                    .replaceAll("\"\\$(job|instance|transport|peer)\"", "\".*\"");
        }

        @Override
        public String toString() {
            return expression();
        }
    }

    static Dashboard read() {
        JsonNode json = ShippedFile.DASHBOARD.json();
        List<String> rows = new ArrayList<>();
        List<Panel> panels = new ArrayList<>();
        for (JsonNode panel : json.path("panels")) {
            if (panel.path("type").asText().equals("row")) {
                rows.add(panel.path("title").asText());
            } else {
                panels.add(new Panel(panel));
            }
        }
        return new Dashboard(json, List.copyOf(rows), List.copyOf(panels));
    }

    Stream<Query> queries() {
        return panels.stream().flatMap(Panel::queries);
    }

    static Stream<JsonNode> children(JsonNode node) {
        return StreamSupport.stream(node.spliterator(), false);
    }
}
