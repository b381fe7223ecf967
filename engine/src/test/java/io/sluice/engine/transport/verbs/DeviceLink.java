package io.sluice.engine.transport.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.opentest4j.TestAbortedException;

/** The cable of a device: the software adapter's port, or the network interface below softRoCE. It is up again in the end. */
final class DeviceLink implements AutoCloseable {
    private static final Path DEVICES = Path.of("/sys/class/infiniband");

    private final String device;

    DeviceLink(String device) {
        this.device = device;
    }

    void down() {
        set(false);
    }

    void up() {
        set(true);
    }

    private void set(boolean up) {
        if (TestDevices.areInThisProcess()) {
            SoftAdapter.get().port(device, up);
        } else {
            run("ip", "link", "set", networkInterface(), up ? "up" : "down");
        }
    }

    private String networkInterface() {
        String parent = Sysfs.read(DEVICES.resolve(device).resolve("parent"));
        if (parent == null) {
            throw new TestAbortedException(device + " is no softRoCE device: its link is left alone");
        }
        return parent;
    }

    private static void run(String... command) {
        try {
            Process process =
                    new ProcessBuilder(command).redirectErrorStream(true).start();
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
            assertThat(process.exitValue())
                    .as("%s: %s", String.join(" ", command), output)
                    .isZero();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError(e);
        }
    }

    @Override
    public void close() {
        up();
    }
}
