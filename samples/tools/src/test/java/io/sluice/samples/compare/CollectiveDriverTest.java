package io.sluice.samples.compare;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.samples.bench.BenchCollective;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The C programs on other libraries of collectives. */
class CollectiveDriverTest {
    private static final Duration BOUND = Duration.ofSeconds(60);

    /** A library of one rank, which spoils results if it is told to. */
    private static final String ALONE = """
            #include "arguments.h"
            #include "collective.h"
            #include <stdlib.h>
            #include <string.h>

            static const char *wrong = "";
            static int calls;

            static void all_reduce(const float *source, float *target, size_t count) {
                calls++;
                if (strcmp(wrong, "stale") == 0 && calls % 7 == 0) {
                    return;
                }
                memcpy(target, source, count * sizeof(float));
                if (strcmp(wrong, "last") == 0 && calls == 20) {
                    target[count - 1] += 1;
                }
            }

            static void barrier(void) {}

            static int64_t same(int64_t number) {
                return number;
            }

            int main(int count, char **arguments) {
                struct plan plan;
                struct library library = {0, 1, all_reduce, barrier, same, same};
                wrong = count > 6 ? arguments[6] : "";
                return plan_parse(arguments + 1, 0, &plan) ? measure(&plan, &library) : STATUS_USAGE;
            }
            """;

    @TempDir
    private Path folder;

    @Test
    void theMeasurementCountsAndChecks() throws Exception {
        String program = alone();
        BaselineRun.BaselineOutput figures =
                BaselineRun.BaselineOutput.of(run(program, "allreduce", "4096", "", "0", "20"));
        assertThat(figures.operations()).isPositive();
        assertThat(figures.nanos()).isPositive();
        assertThat(figures.medianMicros()).isPositive();
        assertThat(figures.tail()).isGreaterThanOrEqualTo(1);
        assertThat(BaselineRun.BaselineOutput.of(run(program, "barrier", "0", "", "0", "20"))
                        .operations())
                .isPositive();
        for (String wrong : List.of("stale", "last")) {
            assertThatThrownBy(() -> run(program, "allreduce", "4096", "", "0", "20", wrong))
                    .as(wrong)
                    .hasMessageContaining("rank 0: wrong elements");
        }
        assertThatThrownBy(() -> run(program, "allreduce", "8", "654321", "0", "20"))
                .hasMessageContaining("654321");
    }

    private String alone() throws IOException, MeasurementFailedException {
        List<String> command = new ArrayList<>(List.of(
                BaselineBuild.compiler(), "-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-o", folder + "/alone"));
        for (String name : List.of(
                "arguments.h",
                "arguments.c",
                "collective/collective.h",
                "collective/content.c",
                "collective/latencies.c",
                "collective/main.c",
                "collective/measure.c")) {
            Path file = BaselineBuild.copy(name, folder.resolve(Path.of(name).getFileName()));
            if (name.endsWith(".c")) {
                command.add(file.toString());
            }
        }
        command.add(Files.writeString(folder.resolve("alone.c"), ALONE).toString());
        run(command);
        return folder.resolve("alone").toString();
    }

    private String run(String... command) throws MeasurementFailedException {
        return run(List.of(command));
    }

    private String run(List<String> command) throws MeasurementFailedException {
        try (ToolProcess process = ToolProcess.start(folder, Map.of(), BOUND, command)) {
            return process.await(BOUND, () -> false);
        }
    }

    @ParameterizedTest
    @EnumSource
    @Tag("soak")
    void eachPeerThatIsHereMeasures(CollectivePeer peer) throws Exception {
        Assumptions.assumeTrue(peer.driver().isPresent(), "its library is not here");
        Pinning anywhere = new Pinning(List.of(), List.of(), List.of(), false);
        Route route = peer.toString().contains("tcp") || peer.toString().contains("gloo") ? Route.TCP : Route.SHM;
        try (BenchEnvironment environment = BenchEnvironment.open(
                new Timing(1, Duration.ofMillis(100), Duration.ZERO), anywhere, arguments -> arguments, () -> false)) {
            peer.driver().build(environment.folder(), () -> false);
            Figures figures = new PeerCollectives(peer, Collectives.of(route, BenchCollective.ALLREDUCE, 64 << 10, 2))
                    .run(environment);
            assertThat(figures.values().get(Quantity.MEDIAN_MICROSECONDS)).isPositive();
            assertThat(figures.values().get(Quantity.BUS_GIGABYTES_PER_SECOND)).isPositive();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"{\"errors\":1,\"verified\":true}", "{\"errors\":0,\"verified\":false}", "nothing"})
    void figuresOfWrongResultsAreNone(String output) {
        assertThatThrownBy(() -> OwnCollectives.figures(output)).isInstanceOf(MeasurementFailedException.class);
    }
}
