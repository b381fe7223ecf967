package io.sluice.samples.compare;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The script that asks PyTorch for its figures. */
class TorchRunTest {
    @TempDir
    private Path folder;

    private BenchEnvironment workbench;

    @BeforeEach
    void open() throws IOException {
        Assumptions.assumeTrue(Program.TORCH.isPresent(), "no python3");
        workbench = BenchEnvironment.open(
                new Timing(1, Duration.ofMillis(20), Duration.ofMillis(5)),
                new Pinning(List.of(), List.of(), List.of(), true),
                arguments -> arguments,
                () -> false);
    }

    @AfterEach
    void discard() throws IOException {
        if (workbench != null) {
            workbench.close();
        }
    }

    @Test
    void withoutPyTorchItSaysWhyThereAreNoFigures() throws Exception {
        Assumptions.assumeFalse(hasPyTorch(), "PyTorch is here");
        assertThat(Preparation.prepare(EnumSet.of(Program.TORCH), workbench))
                .containsOnlyKeys(Program.TORCH)
                .hasEntrySatisfying(
                        Program.TORCH,
                        reason ->
                                assertThat(reason).startsWith("not available: ").contains("python3 has no PyTorch"));
    }

    private boolean hasPyTorch() throws IOException, InterruptedException {
        Path output = folder.resolve("output");
        Process process = new ProcessBuilder(Program.TORCH.executable(), "-c", "import torch")
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        return process.waitFor(1, TimeUnit.MINUTES) && process.exitValue() == 0;
    }
}
