package io.sluice.engine.providers;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.CapturedLog;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.TransferEngine;
import io.sluice.testkit.PatientOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A variable that nothing reads is a slip of the pen, and the log says which was meant. */
class VariableNamesTest {
    private static final Path SOURCES = Path.of("src/main/java");
    private static final Path SOURCES_OF_CUDA = Path.of("../cuda/src/main/java");
    private static final Path SOURCES_OF_EXPERTS = Path.of("../experts/src/main/java");
    private static final Path SOURCES_OF_BACKENDS = Path.of("../comm-backends/src/main/java");
    private static final Pattern PREFIX = Pattern.compile("VARIABLES = \"(SLUICE_[A-Z]+_)\"");
    private static final Pattern WHOLE = Pattern.compile("\"(SLUICE_[A-Z_]*[A-Z])\"");
    private static final Pattern IN_TRANSPORT = Pattern.compile("VARIABLES \\+ \"([A-Z_]+)\"");

    @Test
    void anEngineThatOpensWarnsOnceOfWhatIsMisspelt() {
        EngineOptions options = PatientOptions.builder()
                .noListener()
                .environment(Map.of(
                        "SLUICE_WINDOW_BYTE", "1MiB",
                        "SLUICE_QUITE_ANOTHER_THING", "secret value",
                        "SLUICE_LOG_LEVEL", "INFO",
                        "SLUICE_AOT", "1",
                        "SLUICE_VERBS_DEVICES", "auto",
                        "SLUICE_DECODE_SERVICE_HOST", "10.0.0.1",
                        "SLUICE_DECODE_PORT_7000_TCP_ADDR", "10.0.0.1",
                        "SLUICE_FAULTY_SEED", "1"))
                .build();
        try (CapturedLog log = CapturedLog.warnings()) {
            for (int i = 0; i < 2; i++) {
                TransferEngine.open(options).close();
            }
            List<String> told = log.lines().stream()
                    .filter(line -> line.contains("SLUICE_"))
                    .toList();
            assertThat(told)
                    .containsExactlyInAnyOrder(
                            "WARN the environment variable SLUICE_WINDOW_BYTE is not known, and has no effect: is it meant"
                                    + " to be SLUICE_WINDOW_BYTES?",
                            "WARN the environment variable SLUICE_QUITE_ANOTHER_THING is not known, and has no effect");
        }
    }

    @ParameterizedTest
    @CsvSource({
        "SLUICE_TRANSPORT, SLUICE_TRANSPORTS",
        "SLUICE_LIVENES_TIMEOUT, SLUICE_LIVENESS_TIMEOUT",
        "SLUICE_TLS_CERTS, SLUICE_TLS_CERT",
        "SLUICE_LOGLEVEL, SLUICE_LOG_LEVEL",
        "SLUICE_SHM_DIR, SLUICE_SHM_DIRECTORY",
        "SLUICE_CUDA_BLOKS, SLUICE_CUDA_BLOCKS",
        "SLUICE_lanes, SLUICE_LANES"
    })
    void theNearestIsNamed(String misspelt, String meant) {
        assertThat(VariableNames.isUnknown(misspelt)).isTrue();
        assertThat(VariableNames.nearest(misspelt)).contains(meant);
    }

    @ParameterizedTest
    @ValueSource(strings = {"SLUICE_SERVICE_HOST", "SLUICE_SERVICE_PORT_HTTP", "SLUICE_PORT", "SLUICE_A_PORT_80_UDP"})
    void whatKubernetesSetsIsNoSlip(String name) {
        assertThat(VariableNames.isUnknown(name)).isFalse();
    }

    @Test
    void allThatIsReadIsKnown() throws IOException {
        assertThat(VariableNames.OF_ENGINE).containsExactlyInAnyOrderElementsOf(readIn(SOURCES));
        assertThat(VariableNames.OF_CUDA).containsExactlyInAnyOrderElementsOf(readIn(SOURCES_OF_CUDA));
        assertThat(VariableNames.OF_EXPERTS).containsExactlyInAnyOrderElementsOf(readIn(SOURCES_OF_EXPERTS));
        assertThat(VariableNames.OF_BACKENDS).containsExactlyInAnyOrderElementsOf(readIn(SOURCES_OF_BACKENDS));
    }

    private static Set<String> readIn(Path sources) throws IOException {
        Set<String> read = new TreeSet<>();
        try (Stream<Path> files = Files.walk(sources)) {
            for (Path file :
                    files.filter(each -> each.toString().endsWith(".java")).toList()) {
                String source = Files.readString(file);
                names(WHOLE, source).forEach(read::add);
                String prefix = PREFIX.matcher(source)
                        .results()
                        .map((MatchResult match) -> match.group(1))
                        .findFirst()
                        .orElse("");
                names(IN_TRANSPORT, source).map(prefix::concat).forEach(read::add);
            }
        }
        return read;
    }

    private static Stream<String> names(Pattern pattern, String source) {
        return pattern.matcher(source).results().map((MatchResult match) -> match.group(1));
    }
}
