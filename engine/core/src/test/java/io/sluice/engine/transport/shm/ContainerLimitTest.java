package io.sluice.engine.transport.shm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.sluice.engine.RegionOptions;
import io.sluice.engine.RegistrationException;
import io.sluice.engine.TransferEngine;
import io.sluice.testkit.ForkedJava;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A process whose control group leaves less memory than the machine has: the kernel would end it, so it is refused what does
 * not fit. The group's files are the test's own, in a mount name space of the process.
 */
class ContainerLimitTest {
    private static final long MIB = 1L << 20;
    private static final List<String> AS_ROOT = List.of("unshare", "--mount");
    private static final List<String> AS_USER = List.of("unshare", "--user", "--map-root-user", "--mount");

    /** Asks for what fits, and for more. */
    static final class Allocating {
        private Allocating() {}

        public static void main(String[] arguments) {
            try (TransferEngine engine = TransferEngine.open(
                    PatientOptions.builder().transports(List.of(arguments[0])).build())) {
                engine.allocate(16 * MIB, RegionOptions.readWrite());
                System.out.println("16 MiB");
                engine.allocate(128 * MIB, RegionOptions.readWrite());
                System.out.println("128 MiB");
            } catch (RegistrationException refused) {
                System.out.println(refused.getMessage());
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"shm", "tcp"})
    void allocatingMoreThanTheContainerHasIsATypedError(String transport, @TempDir Path folder) throws IOException {
        List<String> mounts = Files.readAllLines(Path.of("/proc/self/mountinfo"));
        String first = mountPoint(mounts, " - cgroup .*\\bmemory\\b.*");
        String mount = first != null ? first : mountPoint(mounts, " - cgroup2 .*");
        assumeTrue(mount != null, "no control groups are mounted");
        List<String> command = new ArrayList<>(run(AS_ROOT) ? AS_ROOT : AS_USER);
        assumeTrue(run(command), "this process may not make a mount name space");
        Path group = Files.createDirectory(folder.resolve("group"));
        // 64 MiB are left
        Files.writeString(group.resolve(first != null ? "memory.limit_in_bytes" : "memory.max"), "" + 512 * MIB);
        Files.writeString(group.resolve(first != null ? "memory.usage_in_bytes" : "memory.current"), "" + 448 * MIB);

        Path output = folder.resolve("output.txt");
        command.addAll(List.of("sh", "-c", "mount --bind \"$0\" \"$1\" && shift && exec \"$@\""));
        command.addAll(List.of(group.toString(), mount));
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of("-XX:-UseContainerSupport", "-Xmx64m", "-XX:+UseSerialGC"));
        command.addAll(List.of("--enable-native-access=ALL-UNNAMED"));
        command.addAll(ForkedJava.startOptions());
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), Allocating.class.getName(), transport));
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        int status = Patience.exit(process);
        String text = Files.readString(output);
        assertThat(status).as(text).isZero();
        assertThat(text)
                .contains("16 MiB", "cannot allocate 134217728 bytes", "memory limit of the container")
                .doesNotContain("128 MiB");
    }

    private static @Nullable String mountPoint(List<String> mounts, String ending) {
        return mounts.stream()
                .filter(line -> line.matches(".*" + ending))
                .map(line -> line.split(" ")[4])
                .findFirst()
                .orElse(null);
    }

    private static boolean run(List<String> unshare) {
        List<String> command = new ArrayList<>(unshare);
        command.add("true");
        try {
            return Patience.exit(new ProcessBuilder(command).start()) == 0;
        } catch (IOException e) {
            return false;
        }
    }
}
