package io.sluice.engine.sanitized;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.testkit.Patience;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;

/**
 * The native library, built with the address and undefined-behaviour sanitizers, and what a virtual machine needs to load it:
 * the sanitizers' runtime has to be there before everything else.
 */
final class SanitizedLibrary {
    private static final Path NATIVE = Path.of(System.getProperty("basedir", "."), "..", "native")
            .toAbsolutePath()
            .normalize();
    private static final Path BUILT = NATIVE.resolve(Path.of("target", "native-asan"));

    private final Path runtime;

    private SanitizedLibrary(Path runtime) {
        this.runtime = runtime;
    }

    /** Builds it, and the software adapter; aborts the test where the machine has no compiler that could. */
    static SanitizedLibrary build(Path scratch) throws IOException, InterruptedException {
        Path runtime = runtime(scratch);
        run(NATIVE, "make", "asan-library", "asan");
        return new SanitizedLibrary(runtime);
    }

    /** Only what the machine lacks excuses from the tests: a library that does not compile is a failure. */
    private static Path runtime(Path scratch) throws IOException, InterruptedException {
        String probe = "make --version > /dev/null && echo 'int main(void) { return 0; }'"
                + " | ${CC:-cc} -fsanitize=address,undefined -x c - -o probe && ./probe"
                + " && ${CC:-cc} -print-file-name=libasan.so";
        Output output = output(scratch, List.of("sh", "-c", probe));
        Path runtime = Path.of(output.text.strip().lines().reduce("", (all, last) -> last));
        if (output.status != 0 || !runtime.isAbsolute() || !Files.exists(runtime)) {
            String missing = "no make, no C compiler with sanitizers, or no libasan.so to preload: " + output.text;
            System.err.println("SKIPPED the tests on the sanitized library: " + missing);
            Assumptions.abort(missing);
        }
        return runtime.toRealPath();
    }

    /** The sanitizers' runtime, to be preloaded. */
    Path runtime() {
        return runtime;
    }

    /** The folder of the library, whose name there is the usual one. */
    Path folder() {
        return BUILT.resolve("library");
    }

    /** The library. */
    Path file() {
        return folder().resolve("libsluice.so");
    }

    /** The software adapter, sanitized as well. */
    Path softAdapter() {
        return BUILT.resolve("libsoftadapter.so");
    }

    /** The classes and the tests of the native module. */
    static List<Path> nativeClasses() {
        return List.of(NATIVE.resolve(Path.of("target", "test-classes")), NATIVE.resolve(Path.of("target", "classes")));
    }

    private record Output(int status, String text) {}

    private static void run(Path folder, String... command) throws IOException, InterruptedException {
        Output output = output(folder, List.of(command));
        assertThat(output.status).as(output.text).isZero();
    }

    private static Output output(Path folder, List<String> command) throws IOException, InterruptedException {
        Path log = Files.createTempFile("sluice-sanitized-", ".txt");
        try {
            ProcessBuilder builder = new ProcessBuilder(command)
                    .directory(folder.toFile())
                    .redirectErrorStream(true)
                    .redirectOutput(log.toFile());
            builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
            Process process = builder.start();
            boolean ended = process.waitFor(Patience.longBound().toNanos(), TimeUnit.NANOSECONDS);
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly().waitFor();
            return new Output(ended ? process.exitValue() : -1, Files.readString(log));
        } finally {
            Files.delete(log);
        }
    }
}
