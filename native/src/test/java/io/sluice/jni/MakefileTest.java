package io.sluice.jni;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.testkit.Patience;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The Makefile, where the folder of the checkout has a name that shells read in their own way. */
class MakefileTest {
    private static final String OBJECT = "target/native-objects/core/errors.o";

    @TempDir
    Path folder;

    @Test
    void itCompilesInAFolderWithQuotesAndSpaces() throws IOException, InterruptedException {
        Path root = Files.createDirectories(folder.resolve("it's \"here\" `it`"));
        Path module = module();
        Files.copy(module.resolve("Makefile"), root.resolve("Makefile"));
        copy(module.resolve("src/main/c/core"), root.resolve("src/main/c/core"));
        Path headers = Files.createDirectories(root.resolve("headers"));

        assertThat(make(root, "HEADERS=" + headers, "CLASSES=" + root.resolve("classes"), OBJECT))
                .isZero();
        assertThat(root.resolve(OBJECT)).exists();
        // The file that detects a changed command holds it in full.
        assertThat(root.resolve("target/native-objects/flags")).content().contains("it'\\''s \"here\"");
    }

    /** The module's folder, also where another one's build runs its tests. */
    private static Path module() {
        try {
            Path classes = Path.of(MakefileTest.class
                    .getProtectionDomain()
                    .getCodeSource()
                    .getLocation()
                    .toURI());
            return classes.resolve("../..").normalize();
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void copy(Path from, Path to) throws IOException {
        Files.createDirectories(to);
        try (Stream<Path> files = Files.list(from)) {
            for (Path file : files.toList()) {
                Files.copy(file, to.resolve(file.getFileName()));
            }
        }
    }

    private int make(Path root, String... arguments) throws IOException, InterruptedException {
        ProcessBuilder builder = new ProcessBuilder(
                        Stream.concat(Stream.of("make"), Stream.of(arguments)).toList())
                .directory(root.toFile())
                .redirectErrorStream(true)
                .redirectOutput(folder.resolve("output.txt").toFile());
        builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
        // The variables that the running make has set for its children.
        builder.environment().keySet().removeAll(List.of("MAKEFLAGS", "MFLAGS", "MAKELEVEL"));
        Process process = builder.start();
        try {
            assertThat(process.waitFor(Patience.BOUND.toSeconds(), TimeUnit.SECONDS))
                    .isTrue();
        } finally {
            process.destroyForcibly();
        }
        System.out.print(Files.readString(folder.resolve("output.txt")));
        return process.exitValue();
    }
}
