package io.sluice.jni;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
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
        String[] command = new String[2 + arguments.length];
        command[0] = "bash";
        command[1] = SCRIPT.toString();
        System.arraycopy(arguments, 0, command, 2, arguments.length);
        ProcessBuilder builder = new ProcessBuilder(command).directory(basedir().toFile());
        builder.environment()
                .put("SLUICE_CUDA_LIBRARY", SoftGpu.file().toAbsolutePath().toString());
        builder.environment().put("SOFT_GPU_DEVICES", devices);
        builder.environment().put("BUILD", folder.toString());
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

    private boolean hasCompiler() throws Exception {
        return ChildJvm.run(new ProcessBuilder("sh", "-c", "command -v ${CC:-cc}").directory(folder.toFile()))
                        .status()
                == 0;
    }

    private static Path basedir() {
        return Path.of(System.getProperty("basedir", System.getProperty("user.dir")));
    }
}
