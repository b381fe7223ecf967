package io.sluice.samples.compare;

import io.sluice.samples.bench.BenchOperation;
import io.sluice.samples.report.ByteSize;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;

/**
 * One-sided puts or gets over tcp through JUCX, UCX's Java binding, on this machine's UCX. It uses one buffer, and counts a put
 * when its source may be reused; the time lasts until all have taken effect.
 *
 * @param operation a write for puts, a read for gets
 * @param size in bytes
 * @param inflight outstanding at most
 */
record JucxTransfers(BenchOperation operation, long size, int inflight) implements Measurement {
    /** The same transfers as ours; of what is vectored each element is a transfer of its own. */
    static JucxTransfers like(Transfers ours) {
        int outstanding = UcxTransfers.Transports.TCP.outstanding(ours);
        return new JucxTransfers(ours.elementOperation(), ours.size(), outstanding);
    }

    @Override
    public Program program() {
        return Program.JUCX;
    }

    @Override
    public String label() {
        return "JUCX " + mode() + " of " + ByteSize.format(size) + " over tcp, " + inflight + " outstanding";
    }

    private String mode() {
        return operation.isRead() ? "get" : "put";
    }

    @Override
    public Figures run(BenchEnvironment workbench) throws MeasurementFailedException {
        Timing timing = workbench.timing();
        String output = workbench.runPair(
                label(),
                UcxTransfers.Transports.TCP.environment(),
                port -> command("target", port),
                port -> command(
                        mode(),
                        port,
                        inflight,
                        timing.warmup().toMillis(),
                        timing.duration().toMillis()));
        return Figures.ofRate(BaselineRun.BaselineOutput.of(output).operationsPerSecond(), size);
    }

    private List<String> command(String mode, int port, long... more) {
        List<String> arguments = new ArrayList<>(List.of(mode, Integer.toString(port), Long.toString(size)));
        for (long argument : more) {
            arguments.add(Long.toString(argument));
        }
        return StartCommand.java(System.getProperty("java.class.path"), JucxProcess.class, arguments);
    }

    /** The machine's UCX, as the Java binding needs it. */
    static final class UcxLibrary {
        /** The file that the binding is linked with. */
        static final String NAME = "libucp.so.0";

        private static final String BINDING = "/META-INF/maven/org.openucx/jucx/pom.properties";
        private static final List<String> FOLDERS = List.of(
                "/usr/lib/x86_64-linux-gnu", "/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib", "/usr/local/lib");

        private UcxLibrary() {}

        /** Whether it is where programs look for it; of the binding there is a library for one architecture alone. */
        static boolean isPresent() {
            if (!System.getProperty("os.arch").equals("amd64")) {
                return false;
            }
            List<String> folders = new ArrayList<>(FOLDERS);
            String named = System.getenv("LD_LIBRARY_PATH");
            if (named != null) {
                folders.addAll(List.of(named.split(":", -1)));
            }
            return folders.stream().anyMatch(folder -> Files.exists(Path.of(folder, NAME)));
        }

        /** What the binding's jar says of its version. */
        static String bindingVersion() {
            Properties properties = new Properties();
            try (InputStream in = UcxLibrary.class.getResourceAsStream(BINDING)) {
                if (in != null) {
                    properties.load(in);
                }
            } catch (IOException e) {
                return "unknown: " + e.getMessage();
            }
            return "jucx " + properties.getProperty("version", "of an unknown version");
        }
    }
}
