package io.sluice.samples.command;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class UsageTest {

    @TempDir
    private Path folder;

    @Test
    void theHelpShowsCommandsAndExitStatuses() throws IOException {
        try (SluiceProcess help = SluiceProcess.run(folder, "--help")) {
            assertThat(help.awaitEnd()).isZero();
            assertThat(help.out())
                    .contains(
                            "demo",
                            "cluster-demo",
                            "replay",
                            "decode",
                            "serve",
                            "bench",
                            "compare",
                            "mover",
                            "train",
                            "experts",
                            "info",
                            "Exit status",
                            "130");
        }
    }

    @Test
    void aMistakeIsNamedInALineOrTwo() {
        ProgramRun mistaken = ProgramRun.of("replay", "--model", "gpt-0");
        assertThat(mistaken.status()).isEqualTo(ExitCodes.USAGE);
        assertThat(mistaken.err()).contains("unknown model 'gpt-0'", "llama-3.1-8b", "sluice replay --help");
        assertThat(mistaken.err().lines().count()).isLessThanOrEqualTo(2);
    }
}
