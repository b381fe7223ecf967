package io.sluice.engine.transport.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.testkit.Patience;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.opentest4j.TestAbortedException;

/** The network interface below a softRoCE device, which the programs of iproute2 change. */
final class SoftRoceInterface {
    private static final Path DEVICES = Path.of("/sys/class/infiniband");

    private final String name;

    private SoftRoceInterface(String name) {
        this.name = name;
    }

    static SoftRoceInterface below(String device) {
        String parent = Sysfs.read(DEVICES.resolve(device).resolve("parent"));
        if (parent == null) {
            throw new TestAbortedException(device + " is no softRoCE device: its link is left alone");
        }
        return new SoftRoceInterface(parent);
    }

    String name() {
        return name;
    }

    /** Runs a program that must succeed, and gives what it prints. */
    static String run(String... command) {
        try {
            Process process =
                    new ProcessBuilder(command).redirectErrorStream(true).start();
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertThat(Patience.exit(process))
                    .as("%s: %s", String.join(" ", command), output)
                    .isZero();
            return output;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
