package io.sluice.jni;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.testkit.Patience;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The programs that launch the kernels of modules above by themselves, for compute-sanitizer, on the software GPU. */
class KernelProgramsTest {
    private static final Path SCRIPT = Path.of("src/test/c/kernels/kernels.sh");

    @TempDir
    Path folder;

    private ChildJvm.Output run(String devices, String... arguments) throws Exception {
        return run(Long.toString(Patience.BOUND.toSeconds()), devices, List.of(arguments));
    }

    private ChildJvm.Output run(String bound, String devices, List<String> arguments) throws Exception {
        List<String> command = new ArrayList<>(List.of("bash", SCRIPT.toString()));
        command.addAll(arguments);
        ProcessBuilder builder = new ProcessBuilder(command).directory(basedir().toFile());
        builder.environment()
                .put("SLUICE_CUDA_LIBRARY", SoftGpu.file().toAbsolutePath().toString());
        builder.environment().put("SOFT_GPU_DEVICES", devices);
        builder.environment().put("BUILD", folder.toString());
        builder.environment().put("BOUND", bound);
        return ChildJvm.run(builder);
    }

    @ParameterizedTest
    @CsvSource({"collectives-cuda, 2", "experts-cuda, 2", "experts-cuda, 1"})
    void every_kernel_of_a_module_gives_the_right_results(String module, String devices) throws Exception {
        Assumptions.assumeTrue(hasCompiler(), "no C compiler");
        ChildJvm.Output output = run(devices, "../engine/" + module, "bare");
        assertThat(output.status()).as(output.text()).isZero();
        assertThat(output.text())
                .contains(
                        (devices.equals("1") ? "one GPU" : "two GPUs") + ": all results are right", "bare: passed in ");
    }

    @Test
    void without_a_module_the_script_says_how_it_is_used() throws Exception {
        ChildJvm.Output output = run("2", "../engine/core");
        assertThat(output.status()).isEqualTo(2);
        assertThat(output.text()).contains("Usage: kernels.sh MODULE");
    }

    @Test
    void a_bound_that_is_no_number_of_seconds_is_refused() throws Exception {
        ChildJvm.Output output = run("0", "2", List.of("../engine/experts-cuda", "bare"));
        assertThat(output.status()).isEqualTo(2);
        assertThat(output.text()).contains("BOUND is a number of seconds", "not 0");
    }

    private boolean hasCompiler() throws Exception {
        return ChildJvm.run(new ProcessBuilder("sh", "-c", "command -v ${CC:-cc}").directory(folder.toFile()))
                        .status()
                == 0;
    }

    private static Path basedir() {
        return Path.of(System.getProperty("basedir", System.getProperty("user.dir")));
    }
}
