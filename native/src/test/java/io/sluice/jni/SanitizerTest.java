package io.sluice.jni;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs the tests of the C core, built with the address and undefined-behaviour sanitizers. */
class SanitizerTest {
    @TempDir
    Path folder;

    @Test
    void the_c_core_passes_its_tests_under_the_sanitizers() throws Exception {
        String missing = missingTool();
        if (!missing.isEmpty()) {
            System.err.println("SKIPPED the tests of the C core: " + missing);
            Assumptions.abort(missing);
        }

        ChildJvm.Output output = ChildJvm.run(new ProcessBuilder("make", "-j2", "asan-test")
                .directory(Path.of(basedir()).toFile()));

        // which variants of kernels this processor has tried, and which it lacks
        output.text().lines().filter(line -> line.contains("bit by bit")).forEach(System.out::println);
        assertThat(output.text()).contains("all C tests passed").doesNotContain("ERROR:", "runtime error:");
        assertThat(output.status()).isZero();
    }

    /** Only what this machine lacks excuses from the test: code that does not compile is a failure. */
    private String missingTool() throws InterruptedException {
        String probe = "make --version >/dev/null && echo 'int main(void) { return 0; }'"
                + " | ${CC:-cc} -fsanitize=address,undefined -x c - -o probe && ./probe";
        try {
            ChildJvm.Output output = ChildJvm.run(new ProcessBuilder("sh", "-c", probe).directory(folder.toFile()));
            return output.status() == 0 ? "" : "no make, or no C compiler with sanitizers: " + output.text();
        } catch (IOException e) {
            return "no shell: " + e.getMessage();
        }
    }

    private static String basedir() {
        return System.getProperty("basedir", System.getProperty("user.dir"));
    }
}
