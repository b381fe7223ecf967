package io.sluice.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The examples, and the files that they mount, fit together. */
class ExamplesTest {
    private static final JsonNode GRAFANA = ShippedFile.COMPOSE.yaml().at("/services/grafana");
    private static final JsonNode PROMETHEUS = ShippedFile.COMPOSE.yaml().at("/services/prometheus");

    @Test
    void whatComposeMountsIsThere() {
        assertThat(Dashboard.children(ShippedFile.COMPOSE.yaml().path("services"))
                        .flatMap(service -> Dashboard.children(service.path("volumes")))
                        .map(JsonNode::asText)
                        .filter(volume -> volume.startsWith(".")))
                .hasSize(4)
                .allSatisfy(volume -> {
                    Path mounted = ShippedFile.COMPOSE.path().resolveSibling(volume.substring(0, volume.indexOf(':')));
                    assertThat(Files.exists(mounted)).as(mounted.toString()).isTrue();
                    assertThat(volume).endsWith(":ro");
                });
    }

    @Test
    void nothingListensBeyondLoopback() {
        assertThat(GRAFANA.at("/environment/GF_SERVER_HTTP_ADDR").asText()).isEqualTo("127.0.0.1");
        assertThat(texts(PROMETHEUS.path("command"))).contains("--web.listen-address=127.0.0.1:9090");
        assertThat(ShippedFile.DATA_SOURCE.yaml().at("/datasources/0/url").asText())
                .isEqualTo("http://127.0.0.1:9090");
    }

    @Test
    void grafanaFindsTheDashboardWhereItsProviderLooks() {
        String folder = ShippedFile.DASHBOARD_PROVIDER
                .yaml()
                .at("/providers/0/options/path")
                .asText();
        assertThat(texts(GRAFANA.path("volumes")))
                .anySatisfy(volume -> assertThat(volume).contains("/grafana/dashboards:" + folder + ":"));
        assertThat(GRAFANA.at("/environment/GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH")
                        .asText())
                .isEqualTo(folder + "/" + ShippedFile.DASHBOARD.path().getFileName());
    }

    @Test
    void grafanaKnowsTheScrapeInterval() {
        assertThat(ShippedFile.DATA_SOURCE
                        .yaml()
                        .at("/datasources/0/jsonData/timeInterval")
                        .asText())
                .isEqualTo(ShippedFile.PROMETHEUS
                        .yaml()
                        .at("/global/scrape_interval")
                        .asText());
    }

    @Test
    void theMonitorsFindThePods() {
        JsonNode pod = ShippedFile.DEPLOYMENT.yaml().at("/spec/template");
        List<String> ports = Dashboard.children(pod.at("/spec/containers/0/ports"))
                .map(port -> port.path("name").asText())
                .toList();
        List<JsonNode> documents = ShippedFile.SERVICE_MONITOR.yamlDocuments();
        assertThat(documents).hasSize(2);
        JsonNode service = documents.get(0);
        JsonNode serviceMonitor = documents.get(1);
        JsonNode podMonitor = ShippedFile.POD_MONITOR.yaml();
        assertThat(service.at("/spec/selector")).isEqualTo(pod.at("/metadata/labels"));
        assertThat(ports).contains(service.at("/spec/ports/0/targetPort").asText());
        assertThat(serviceMonitor.at("/spec/selector/matchLabels")).isEqualTo(service.at("/metadata/labels"));
        assertThat(serviceMonitor.at("/spec/endpoints/0/port").asText())
                .isEqualTo(service.at("/spec/ports/0/name").asText());
        assertThat(podMonitor.at("/spec/selector/matchLabels")).isEqualTo(pod.at("/metadata/labels"));
        assertThat(ports)
                .contains(podMonitor.at("/spec/podMetricsEndpoints/0/port").asText());
    }

    private static List<String> texts(JsonNode list) {
        return Dashboard.children(list).map(JsonNode::asText).toList();
    }
}
