package io.sluice.samples.compare;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.samples.bench.ExpertMode;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The scripts that ask PyTorch for its figures. */
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

    /** With or without PyTorch. */
    @ParameterizedTest
    @ValueSource(strings = {"torch_pair.py", "torch_experts.py"})
    void aScriptIsPython(String name) throws Exception {
        List<String> command = new TorchScript(name).command(workbench, List.of());
        workbench.runAlone(
                name,
                Map.of(),
                List.of(
                        Program.TORCH.executable(),
                        "-c",
                        "import sys; compile(open(sys.argv[1]).read(), sys.argv[1], 'exec')",
                        command.getLast()));
    }

    @Test
    void expertsWithoutPyTorchSayWhyThereAreNoFigures() throws Exception {
        Assumptions.assumeFalse(hasPyTorch(), "PyTorch is here");
        assertThatThrownBy(() -> new TorchExperts(new GpuExperts(ExpertMode.NORMAL, true)).run(workbench))
                .isInstanceOf(MeasurementFailedException.class)
                .hasMessageContaining("status 69: torch: python3 has no PyTorch");
    }

    /** On processors: what has arrived is right, which the script checks. */
    @ParameterizedTest
    @CsvSource({"LOW_LATENCY, true", "NORMAL, true", "NORMAL, false"})
    void expertsAreChecked(ExpertMode mode, boolean fp8) throws Exception {
        Assumptions.assumeTrue(hasPyTorch(), "no PyTorch");
        TorchExperts torch = new TorchExperts(new GpuExperts(mode, fp8));
        List<String> command =
                new TorchScript("torch_experts.py").command(workbench, torch.operands("cpu", 20, 256, 16, 0, 1));
        TorchExperts.Output told = TorchExperts.Output.of(workbench.runAlone("torch", Map.of(), command));
        assertThat(told.vectors()).isBetween(20.0, 160.0);
        assertThat(told.roundMicros()).isPositive();
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
