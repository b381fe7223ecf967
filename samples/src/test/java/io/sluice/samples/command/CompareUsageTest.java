package io.sluice.samples.command;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Mistakes on the command line of a comparison, which are all found before anything is started. */
class CompareUsageTest {

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "compare --rounds 0 | --rounds: give 1 to 1000",
                "compare --rounds many | many",
                "compare --duration 0 | --duration: give more than 0",
                "compare --duration 2h | --duration: give at most 1h",
                "compare --warmup 2h | --warmup: give at most 1h",
                "compare --api soap | soap",
                "compare --only rdma | no comparison is called 'rdma'",
                "compare --only read-8B,rdma | write-4KiB/ucx",
                "compare --transport pigeon | no comparison is made over 'pigeon'",
                "compare --transport shm --only iperf3 | none of these comparisons is made over shm",
                "compare --cpu first | names no processors",
                "compare --cpu 654321 | --cpu: not all of the processors",
                "compare --server-cpu 654321 | --server-cpu: not all of the processors",
                "compare --json /nowhere/at/all | does not exist",
                "compare --html /nowhere/at/all | does not exist",
                "compare --markdown pom.xml | no marks",
                "compare --png /nowhere/at/all | no folder",
                "compare --from /nowhere/at/all | cannot be read",
                "compare --from pom.xml | no result of 'compare --json'",
                "compare --from pom.xml --rounds 2 | --rounds is about measuring",
                "compare now | now"
            })
    void isNamedWithStatusTwo(String line, String named) {
        // none of these gets as far as starting a process
        ProgramRun outcome = ProgramRun.of(line.split(" ", -1));
        assertThat(outcome.err()).contains(named).doesNotContain("\tat ");
        assertThat(outcome.status()).isEqualTo(ExitCodes.USAGE);
    }

    @Test
    void processorsAreTakenOneByOne() {
        assertThat(new CpuList("2-3,7").single(0)).isEqualTo(new CpuList("2"));
        assertThat(new CpuList("2-3,7").single(2)).isEqualTo(new CpuList("7"));
        assertThat(new CpuList("5").single(1)).isEqualTo(new CpuList("5"));
        assertThat(new CpuList("5").isSingle()).isTrue();
        assertThat(new CpuList("5-6").isSingle()).isFalse();
    }

    @Test
    void aFileThatAnEditorHasSavedIsReadOrNamed(@TempDir Path folder) throws IOException {
        Path file = folder.resolve("run.json");
        Files.writeString(file, "\uFEFF{\"format\": 0}");
        assertThat(ProgramRun.of("compare", "--from", file.toString()).err())
                .contains("it is no result of")
                .doesNotContain("Unexpected character");
        Files.write(file, "{}".getBytes(StandardCharsets.UTF_16));
        assertThat(ProgramRun.of("compare", "--from", file.toString()).err())
                .contains("--from: " + file + " begins with the byte-order mark of UTF-16");
    }
}
