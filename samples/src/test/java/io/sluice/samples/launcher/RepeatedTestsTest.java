package io.sluice.samples.launcher;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.testkit.Patience;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What {@code ./sluice test --repeat} takes from the pom of the tests' module, as it runs them without Maven. */
class RepeatedTestsTest {
    private static final String ROOT = "..";

    private static List<String> ofModule(String function, String module) throws IOException {
        String script =
                "root=$1 state=$1/target STATUS_USAGE=64; . \"$root/engine/testkit/launcher/test.sh\"; $2 \"$3\"";
        Process process = new ProcessBuilder("bash", "-euc", script, "bash", ROOT, function, module)
                .redirectErrorStream(true)
                .start();
        String printed = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(Patience.exit(process)).as(printed).isZero();
        return printed.lines().toList();
    }

    private static String objects(String library) {
        return Path.of(ROOT, "native/target/native-objects", library).toString();
    }

    @Test
    void theLibrariesOfTheModule() throws IOException {
        assertThat(ofModule("module_libraries", "engine/comm-backends"))
                .containsExactly("-Dsluice.cuda.library=" + objects("libsoftgpu.so"));
        assertThat(ofModule("module_libraries", "engine/experts"))
                .containsExactly("-Dsluice.verbs.library=" + objects("libsoftadapter.so"));
        // those of an execution of its own are not for all tests
        assertThat(ofModule("module_libraries", "engine/core")).isEmpty();
        assertThat(ofModule("module_libraries", "reactive-api/directory")).isEmpty();
    }

    @Test
    void theEnvironmentOfTheModule() throws IOException {
        assertThat(ofModule("module_environment", "engine/comm-backends"))
                .containsExactly("SOFT_GPU_DEVICES=8", "NCCL_NVLS_ENABLE=1", "NVSHMEM_DISABLE_NVLS=0");
        assertThat(ofModule("module_environment", "engine/core")).isEmpty();
        assertThat(ofModule("module_environment", "native")).isEmpty();
    }
}
