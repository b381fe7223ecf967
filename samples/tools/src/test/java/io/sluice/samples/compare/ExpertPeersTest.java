package io.sluice.samples.compare;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.samples.bench.ExpertMode;
import io.sluice.testkit.Patience;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The C programs that dispatch and combine the same elements. */
class ExpertPeersTest {
    private static final Duration BOUND = Patience.BOUND;
    private static final List<String> CHECKED = List.of("-O1", "-std=c11", "-Wall", "-Wextra", "-Werror");

    /** MPI for one rank; it changes a byte of what it exchanges if it is told to. */
    private static final String ALONE = """
            #include <stdint.h>
            #include <stdlib.h>
            #include <string.h>
            #define MPI_COMM_WORLD 0
            #define MPI_INT64_T 8
            #define MPI_INT 4
            #define MPI_BYTE 1
            #define MPI_MAX 0
            #define MPI_IN_PLACE NULL
            static void MPI_Init(int *count, char ***arguments) { (void)count; (void)arguments; }
            static void MPI_Finalize(void) {}
            static void MPI_Abort(int team, int status) { (void)team; exit(status); }
            static void MPI_Comm_rank(int team, int *rank) { (void)team; *rank = 0; }
            static void MPI_Comm_size(int team, int *size) { (void)team; *size = 1; }
            static void MPI_Barrier(int team) { (void)team; }
            static void MPI_Bcast(void *at, int count, int type, int root, int team) {
                (void)at; (void)count; (void)type; (void)root; (void)team;
            }
            static void MPI_Allreduce(void *from, void *to, int count, int type, int how, int team) {
                (void)from; (void)to; (void)count; (void)type; (void)how; (void)team;
            }
            static void MPI_Alltoall(void *from, int count, int type, void *to, int more, int other, int team) {
                (void)more; (void)other; (void)team;
                memcpy(to, from, (size_t)count * (size_t)type);
            }
            static void MPI_Alltoallv(void *from, const int *bytes, const int *at, int type, void *to, const int *more, const int *there,
                                      int other, int team) {
                (void)at; (void)type; (void)there; (void)other; (void)team;
                memcpy(to, from, (size_t)bytes[0]);
                if (getenv("WRONG") != NULL) {
                    ((uint8_t *)to)[more[0] / 2] ^= 0x40;
                }
            }
            """;

    @TempDir
    private Path folder;

    private String copies() throws IOException, MeasurementFailedException {
        Assumptions.assumeTrue(Program.EXPERTS.isPresent(), "no C compiler");
        BaselineBuild.build(CProgram.EXPERTS, folder, List.of("-O1"), () -> false);
        return folder.resolve(CProgram.EXPERTS.fileName()).toString();
    }

    private String run(Map<String, String> environment, List<String> command) throws MeasurementFailedException {
        try (ToolProcess process = ToolProcess.start(folder, environment, BOUND, command)) {
            return process.await(BOUND, () -> false);
        }
    }

    private static List<String> command(String program, String... operands) {
        List<String> command = new ArrayList<>(List.of(program));
        command.addAll(List.of(operands));
        return command;
    }

    @Test
    void processesCopyAndCheckWhatTheyHaveCopied() throws Exception {
        String program = copies();
        for (String mode : List.of("low-latency", "normal")) {
            for (String format : List.of("bf16", "fp8")) {
                PeerExperts.PeerOutput told = PeerExperts.PeerOutput.of(
                        run(Map.of(), command(program, "3", mode, format, "20", "256", "4", "12", "", "0", "20")));
                assertThat(told.rounds()).as(mode + " " + format).isPositive();
                assertThat(told.dispatchNanos()).isPositive();
                assertThat(told.combineNanos()).isPositive();
                assertThat(told.vectors())
                        .isBetween(60L, 240L)
                        .satisfies(vectors -> assertThat(vectors == 240).isEqualTo(mode.equals("low-latency")));
            }
        }
        for (String[] wrong : new String[][] {
            {"0", "normal", "bf16", "1", "128", "1", "1", "", "0", "1"},
            {"1", "quick", "bf16", "1", "128", "1", "1", "", "0", "1"},
            {"1", "normal", "bf16", "1", "100", "1", "1", "", "0", "1"},
            {"1", "normal", "bf16", "1", "128", "2", "1", "", "0", "1"},
            {"2", "normal", "bf16", "1", "128", "1", "1", "", "0", "1"}
        }) {
            assertThatThrownBy(() -> run(Map.of(), command(program, wrong)))
                    .as(String.join(" ", wrong))
                    .hasMessageContaining("status 2");
        }
    }

    @ParameterizedTest
    @CsvSource({"low-latency, bf16", "low-latency, fp8", "normal, bf16", "normal, fp8"})
    void whatMpiExchangesIsChecked(String mode, String format) throws Exception {
        Assumptions.assumeTrue(Program.EXPERTS.isPresent(), "no C compiler");
        String program = alone();
        List<String> command = command(program, mode, format, "10", "256", "4", "8", "", "0", "5");
        assertThat(PeerExperts.PeerOutput.of(run(Map.of(), command)).rounds()).isPositive();
        assertThatThrownBy(() -> run(Map.of("WRONG", "1"), command)).hasMessageContaining("rank 0: wrong elements");
    }

    private String alone() throws IOException, MeasurementFailedException {
        Files.writeString(folder.resolve("mpi.h"), ALONE);
        List<String> compile = new ArrayList<>(List.of(BaselineBuild.compiler()));
        compile.addAll(CHECKED);
        compile.addAll(List.of("-Wno-unused-function", "-isystem", folder.toString(), "-o", folder + "/alone"));
        for (String resource : CollectiveDriver.OPENMPI_EXPERTS.resources()) {
            Path file = BaselineBuild.copy(
                    resource, folder.resolve(Path.of(resource).getFileName()));
            if (resource.endsWith(".c")) {
                compile.add(file.toString());
            }
        }
        run(Map.of(), compile);
        return folder + "/alone";
    }

    /** The programs as they are compared: with Open MPI the driver itself, between two processes. */
    @ParameterizedTest
    @EnumSource
    void eachPeerThatIsHereMeasures(ExpertPeer peer) throws Exception {
        Assumptions.assumeTrue(peer.program().isPresent(), "its library is not here");
        Pinning anywhere = new Pinning(List.of(), List.of(), List.of(), false);
        try (BenchEnvironment environment = BenchEnvironment.open(
                new Timing(1, Duration.ofMillis(20), Duration.ZERO), anywhere, arguments -> arguments, () -> false)) {
            if (peer == ExpertPeer.COPIES) {
                BaselineBuild.provide(CProgram.EXPERTS, environment.folder(), () -> false);
            } else {
                CollectiveDriver.OPENMPI_EXPERTS.build(environment.folder(), () -> false);
            }
            for (ExpertMode mode : ExpertMode.values()) {
                for (boolean fp8 : List.of(false, true)) {
                    Figures figures =
                            new PeerExperts(peer, new Experts(peer.route(), mode, 8, fp8, 2)).run(environment);
                    assertThat(figures.values().get(Quantity.DISPATCH_GIGABYTES_PER_SECOND))
                            .as("%s, fp8 %s", mode, fp8)
                            .isPositive();
                    assertThat(figures.values().get(Quantity.COMBINE_GIGABYTES_PER_SECOND))
                            .as("%s, fp8 %s", mode, fp8)
                            .isPositive();
                }
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"{\"errors\":1,\"verified\":true}", "{\"errors\":0,\"verified\":false}", "nothing"})
    void figuresOfWrongResultsAreNone(String output) {
        assertThatThrownBy(() -> OwnExperts.figures(output)).isInstanceOf(MeasurementFailedException.class);
    }
}
