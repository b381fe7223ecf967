package io.sluice.metrics;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;

/** The files for those who run a service, in the source tree, where {@code promtool} finds them, too. */
enum ShippedFile {
    DASHBOARD("src/main/resources/META-INF/sluice/grafana/dashboards/sluice.json"),
    DATA_SOURCE("src/main/resources/META-INF/sluice/grafana/provisioning/datasources/prometheus.yaml"),
    DASHBOARD_PROVIDER("src/main/resources/META-INF/sluice/grafana/provisioning/dashboards/sluice.yaml"),
    RULES("src/main/resources/META-INF/sluice/prometheus/sluice-rules.yaml"),
    RULES_TEST("src/test/resources/prometheus/sluice-rules-test.yaml"),
    RUNBOOKS("../docs/runbooks.md"),
    COMPOSE("../samples/deploy/observability/compose.yaml"),
    PROMETHEUS("../samples/deploy/observability/prometheus.yaml"),
    DEPLOYMENT("../samples/deploy/observability/kubernetes/deployment.yaml"),
    SERVICE_MONITOR("../samples/deploy/observability/kubernetes/service-monitor.yaml"),
    POD_MONITOR("../samples/deploy/observability/kubernetes/pod-monitor.yaml");

    private static final ObjectMapper JSON = new ObjectMapper();

    private final Path path;

    ShippedFile(String path) {
        this.path = Path.of(path);
    }

    Path path() {
        return path;
    }

    String text() {
        try {
            return Files.readString(path);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    JsonNode json() {
        try {
            return JSON.readTree(text());
        } catch (IOException e) {
            throw new UncheckedIOException(path.toString(), e);
        }
    }

    /** Its only document. */
    JsonNode yaml() {
        return JSON.valueToTree(parser().load(text()));
    }

    List<JsonNode> yamlDocuments() {
        List<JsonNode> documents = new ArrayList<>();
        parser().loadAll(text()).forEach(document -> documents.add(JSON.valueToTree(document)));
        return documents;
    }

    private static Yaml parser() {
        return new Yaml(new SafeConstructor(new LoaderOptions()));
    }
}
