package io.sluice.samples.command;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.HostAndPort;
import io.sluice.samples.report.ByteSize;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;
import picocli.CommandLine;
import picocli.CommandLine.ParseResult;

/** The Kubernetes manifests fit together, and fit the program. */
class KubernetesExamplesTest {

    private static final Path FOLDER = Path.of("deploy/kubernetes");
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Pattern VARIABLE = Pattern.compile("\\$\\(([A-Z_]+)\\)");
    private static final Pattern HEAP = Pattern.compile("-Xmx(\\d+)m\\b");
    private static final Map<String, String> FIELDS = Map.of(
            "metadata.name", "sluice-prefill-1",
            "metadata.namespace", "inference",
            "status.podIP", "10.0.0.7");

    private final JsonNode service = document("service.yaml");

    @Test
    void everyFileHoldsObjectsOfTheRightKind() throws IOException {
        Map<String, String> kinds = new TreeMap<>();
        try (Stream<Path> files = Files.list(FOLDER)) {
            files.map(Path::getFileName)
                    .map(Path::toString)
                    .filter(name -> name.endsWith(".yaml"))
                    .forEach(name -> kinds.put(name, document(name).path("kind").asText()));
        }
        assertThat(kinds)
                .isEqualTo(Map.of(
                        "service.yaml", "Service",
                        "prefill.yaml", "StatefulSet",
                        "decode.yaml", "StatefulSet",
                        "network-policy.yaml", "NetworkPolicy",
                        "service-monitor.yaml", "ServiceMonitor"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"prefill", "decode"})
    void theServiceFindsThePods(String role) {
        JsonNode set = document(role + ".yaml");
        JsonNode labels = set.at("/spec/template/metadata/labels");
        assertThat(set.at("/spec/selector/matchLabels")).isEqualTo(labels);
        assertThat(set.at("/metadata/labels")).isEqualTo(labels);
        assertThat(labels.path("app.kubernetes.io/component").asText()).isEqualTo(role);
        assertThat(set.at("/spec/serviceName")).isEqualTo(service.at("/metadata/name"));
        assertThat(service.at("/spec/clusterIP").asText()).isEqualTo("None");
        // or no pod would ever find another one that waits to be found
        assertThat(service.at("/spec/publishNotReadyAddresses").asBoolean()).isTrue();
        assertSelects(service.at("/spec/selector"), labels);
        assertSelects(document("network-policy.yaml").at("/spec/podSelector/matchLabels"), labels);
        assertThat(numbers(set)).isEqualTo(portsOfService());
    }

    @Test
    void theMonitorFindsTheService() {
        JsonNode monitor = document("service-monitor.yaml");
        assertSelects(monitor.at("/spec/selector/matchLabels"), service.at("/metadata/labels"));
        assertThat(portsOfService())
                .containsKey(monitor.at("/spec/endpoints/0/port").asText());
    }

    @Test
    void thePolicyNamesEveryPortOnce() {
        assertThat(children(document("network-policy.yaml").at("/spec/ingress"))
                        .flatMap(rule -> children(rule.path("ports")))
                        .map(port -> port.path("port").asText()))
                .containsExactlyInAnyOrderElementsOf(portsOfService().keySet());
    }

    @ParameterizedTest
    @ValueSource(strings = {"prefill", "decode"})
    void theProgramTakesTheArguments(String role) {
        JsonNode container = container(role);
        ParseResult parsed = parse(container);
        Map<String, Integer> ports = portsOfService();
        assertThat(parsed.matchedOptionValue("--http-port", 0)).isEqualTo(ports.get("http"));
        assertThat(parsed.matchedOptionValue("--event-bus-port", 0)).isEqualTo(ports.get("event-bus"));
        assertThat(parsed.matchedOptionValue("--cluster", ServerOptions.LOOPBACK))
                .isEqualTo(new HostAndPort("10.0.0.7", ports.get("cluster")));
        assertThat(parsed.matchedOptionValue("--cluster-service", ServerOptions.LOOPBACK))
                .isEqualTo(new HostAndPort(service.at("/metadata/name").asText(), ports.get("cluster")));
        assertThat(String.valueOf(parsed.<Object>matchedOptionValue("--role", null)))
                .isEqualToIgnoringCase(role);
        Map<String, String> environment = environment(container);
        assertThat(environment.get("SLUICE_LISTEN")).isEqualTo("10.0.0.7:" + ports.get("transfers"));
        // complains about what it cannot read
        EngineOptions.builder().environment(environment).build();
    }

    @ParameterizedTest
    @ValueSource(strings = {"prefill", "decode"})
    void theProbesAskWhatIsThere(String role) throws IOException {
        JsonNode paths;
        try (InputStream contract = Objects.requireNonNull(
                MoverCommand.class.getResourceAsStream("/io/sluice/samples/mover/openapi.yaml"))) {
            paths = yaml(new String(contract.readAllBytes(), StandardCharsets.UTF_8))
                    .path("paths");
        }
        JsonNode container = container(role);
        for (String probe : List.of("startupProbe", "livenessProbe", "readinessProbe")) {
            JsonNode asked = container.path(probe).path("httpGet");
            assertThat(paths.path(asked.path("path").asText()).has("get"))
                    .as("%s: %s", probe, asked)
                    .isTrue();
            assertThat(asked.path("port").asText()).isEqualTo("http");
        }
        assertThat(container.at("/livenessProbe/httpGet/path").asText()).isEqualTo("/health/live");
        assertThat(container.at("/readinessProbe/httpGet/path").asText()).isEqualTo("/health/ready");
        assertThat(paths.has(document("service-monitor.yaml")
                        .at("/spec/endpoints/0/path")
                        .asText()))
                .isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"prefill", "decode"})
    void thePodHasRoomForHeapAndPools(String role) {
        JsonNode container = container(role);
        Matcher heap = HEAP.matcher(environment(container).get("JDK_JAVA_OPTIONS"));
        assertThat(heap.find()).isTrue();
        long pools = parse(container).matchedOptionValue("--memory", 0L);
        JsonNode resources = container.path("resources");
        assertThat(resources.at("/requests/memory")).isEqualTo(resources.at("/limits/memory"));
        assertThat((Long.parseLong(heap.group(1)) << 20) + pools + ByteSize.parse("1GiB"))
                .isLessThanOrEqualTo(
                        ByteSize.parse(resources.at("/limits/memory").asText() + "B"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"prefill", "decode"})
    void nothingRunsAsRoot(String role) {
        JsonNode pod = document(role + ".yaml").at("/spec/template/spec");
        assertThat(pod.at("/securityContext/runAsNonRoot").asBoolean()).isTrue();
        assertThat(pod.at("/securityContext/runAsUser").asInt()).isPositive();
        assertThat(pod.at("/automountServiceAccountToken").asBoolean(true)).isFalse();
        JsonNode container = container(role);
        assertThat(container.at("/securityContext/allowPrivilegeEscalation").asBoolean(true))
                .isFalse();
        assertThat(container.at("/securityContext/readOnlyRootFilesystem").asBoolean())
                .isTrue();
        assertThat(container.at("/securityContext/capabilities/drop/0").asText())
                .isEqualTo("ALL");
        assertThat(container.at("/securityContext/capabilities").has("add")).isFalse();
    }

    @Test
    void theRolesDifferInNothingElse() {
        ObjectNode prefill = (ObjectNode) document("prefill.yaml");
        ObjectNode decode = (ObjectNode) document("decode.yaml");
        assertThat(prefill.at("/spec/replicas").asInt()).isEqualTo(2);
        assertThat(decode.at("/spec/replicas").asInt()).isEqualTo(1);
        for (ObjectNode set : List.of(prefill, decode)) {
            ((ObjectNode) set.path("spec")).remove("replicas");
        }
        assertThat(prefill.toString().replace("prefill", "decode")).isEqualTo(decode.toString());
    }

    private static Map<String, Integer> numbers(JsonNode set) {
        Map<String, Integer> numbers = new TreeMap<>();
        children(set.at("/spec/template/spec/containers/0/ports"))
                .forEach(port -> numbers.put(
                        port.path("name").asText(), port.path("containerPort").asInt()));
        return numbers;
    }

    private Map<String, Integer> portsOfService() {
        Map<String, Integer> ports = new TreeMap<>();
        children(service.at("/spec/ports")).forEach(port -> {
            assertThat(port.path("targetPort")).isEqualTo(port.path("name"));
            ports.put(port.path("name").asText(), port.path("port").asInt());
        });
        return ports;
    }

    private static void assertSelects(JsonNode selector, JsonNode labels) {
        assertThat(selector.properties())
                .isNotEmpty()
                .allSatisfy(wanted -> assertThat(labels.path(wanted.getKey())).isEqualTo(wanted.getValue()));
    }

    private static ParseResult parse(JsonNode container) {
        Map<String, String> environment = environment(container);
        List<String> arguments = children(container.path("args"))
                .map(argument -> substituted(argument.asText(), environment))
                .toList();
        assertThat(arguments.getFirst()).isEqualTo("mover");
        try (Termination termination = Termination.handle()) {
            return OptionTypes.register(new CommandLine(new MoverCommand(termination)))
                    .setCaseInsensitiveEnumValuesAllowed(true)
                    .parseArgs(arguments.stream().skip(1).toArray(String[]::new));
        }
    }

    private static Map<String, String> environment(JsonNode container) {
        Map<String, String> values = new HashMap<>();
        children(container.path("env")).forEach(variable -> {
            String field = variable.at("/valueFrom/fieldRef/fieldPath").asText();
            String value = variable.at("/valueFrom").has("secretKeyRef")
                    ? "a secret of some length"
                    : field.isEmpty() ? substituted(variable.path("value").asText(), values) : FIELDS.get(field);
            values.put(variable.path("name").asText(), value);
        });
        return values;
    }

    /** As Kubernetes does it: with variables that were defined before. */
    private static String substituted(String text, Map<String, String> values) {
        return VARIABLE.matcher(text).replaceAll((MatchResult found) -> {
            assertThat(values).containsKey(found.group(1));
            return values.get(found.group(1));
        });
    }

    private static JsonNode container(String role) {
        return document(role + ".yaml").at("/spec/template/spec/containers/0");
    }

    private static Stream<JsonNode> children(JsonNode node) {
        return StreamSupport.stream(node.spliterator(), false);
    }

    private static JsonNode document(String file) {
        try {
            return yaml(Files.readString(FOLDER.resolve(file)));
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private static JsonNode yaml(String text) {
        return JSON.valueToTree(new Yaml(new SafeConstructor(new LoaderOptions())).load(text));
    }
}
