package io.sluice.engine.transport.shm;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.Connection;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RegistrationException;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferEngine;
import io.sluice.jni.NativeLibrary;
import io.sluice.testkit.ForkedJava;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A process whose files may not be as large as a region, or as the memory of a connection: both are files. */
class FileSizeLimitTest {
    private static final int BYTES = 8 << 20;

    @TempDir
    Path folder;

    @Test
    void aRegionLargerThanAFileMayBeIsRefusedAndTheLimitIsNamed() throws IOException, InterruptedException {
        assertThat(run(1024))
                .contains("large: RegistrationException: cannot allocate " + BYTES + " bytes")
                .contains("ulimit -f")
                .contains("small: allocated")
                .contains("connected: shm");
    }

    @Test
    void aConnectionWhoseMemoryIsTooLargeGoesOverTcp() throws IOException, InterruptedException {
        assertThat(run(64)).contains("connected: tcp");
    }

    /** The output of a process whose files are limited to so many KiB. */
    private String run(int limit) throws IOException, InterruptedException {
        Path output = folder.resolve("output.txt");
        // the process could not unpack it: it is larger than its files may be
        Path library = folder.resolve("libsluice.so");
        try (InputStream packed = NativeLibrary.class.getResourceAsStream(
                "/META-INF/native/" + NativeLibrary.version().split(" ")[1] + "/libsluice.so")) {
            Files.copy(requireNonNull(packed), library, StandardCopyOption.REPLACE_EXISTING);
        }
        List<String> command = new ArrayList<>(List.of(
                "bash",
                "-c",
                // A file that it writes to itself would be bounded, too.
                "ulimit -f " + limit + " && \"$@\" 2>&1 | cat",
                "bash",
                ProcessHandle.current().info().command().orElseThrow(),
                "-Xmx64m",
                "-XX:+UseSerialGC",
                "-XX:-UsePerfData",
                "--enable-native-access=ALL-UNNAMED",
                "-Djava.library.path=" + folder));
        command.addAll(ForkedJava.startOptions());
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), Limited.class.getName()));
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        try {
            assertThat(process.waitFor(Patience.BOUND.toSeconds(), TimeUnit.SECONDS))
                    .isTrue();
        } finally {
            process.destroyForcibly();
        }
        return Files.readString(output);
    }

    /** Runs in that process. */
    static final class Limited {
        private Limited() {}

        public static void main(String[] arguments) {
            try (TransferEngine engine = TransferEngine.open(
                    PatientOptions.builder().transports(List.of("shm", "tcp")).build())) {
                try {
                    engine.allocate(BYTES, RegionOptions.readWrite());
                    System.out.println("large: allocated");
                } catch (RegistrationException e) {
                    System.out.println("large: " + e.getClass().getSimpleName() + ": " + e.getMessage());
                }
                engine.allocate(4096, RegionOptions.readWrite());
                System.out.println("small: allocated");
                Connection connection = Patience.await(engine.connect(engine.address()));
                System.out.println("connected: " + connection.transport() + ", " + connection.transportReason());
            } catch (SluiceException e) {
                System.out.println("ended: " + e);
            }
        }
    }
}
