package io.sluice.samples.command;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Output that its file does not take. */
class LostOutputTest {

    private static final String BENCH =
            "bench --loopback --transport tcp --api engine --size 4KiB --warmup 10ms --duration 50ms --json ";

    @TempDir
    private Path folder;

    @BeforeEach
    void needsAFullDevice() {
        Assumptions.assumeTrue(Files.exists(Path.of("/dev/full")), "there is no /dev/full");
    }

    @ParameterizedTest
    @Tag("soak")
    @ValueSource(strings = {"--version", "info --json", "help bench", BENCH + "-"})
    void isAFailureOfTheOtherCommands(String command) throws Exception {
        isAFailureOfEveryCommand(command);
    }

    @ParameterizedTest
    @ValueSource(strings = {"--help", "info"})
    void isAFailureOfEveryCommand(String command) throws Exception {
        try (SluiceProcess program = SluiceProcess.runOnFullDisk(folder, command.split(" "))) {
            assertThat(program.awaitEnd()).as(program::toString).isEqualTo(ExitCodes.FAILED);
            assertThat(program.err()).contains("standard output could not be written");
        }
    }

    @Test
    void aFailureKeepsItsOwnStatus() throws Exception {
        try (SluiceProcess program = SluiceProcess.runOnFullDisk(folder, "bench", "--nonsense")) {
            assertThat(program.awaitEnd()).as(program::toString).isEqualTo(ExitCodes.USAGE);
        }
    }

    @Test
    void aFileThatTakesNothingIsNamed() throws Exception {
        try (SluiceProcess program = SluiceProcess.run(folder, (BENCH + "/dev/full").split(" "))) {
            assertThat(program.awaitEnd()).as(program::toString).isEqualTo(ExitCodes.FAILED);
            assertThat(program.err()).contains("--json: /dev/full cannot be written");
        }
    }
}
