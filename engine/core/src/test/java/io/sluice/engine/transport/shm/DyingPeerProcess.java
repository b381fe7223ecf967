package io.sluice.engine.transport.shm;

import static org.assertj.core.api.Assertions.fail;

import io.sluice.engine.RegionDescriptor;
import io.sluice.engine.TransferEngine;
import io.sluice.testkit.ForkedJava;
import io.sluice.testkit.Patience;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;

/** A {@link DyingPeer} in a process of its own. */
final class DyingPeerProcess implements AutoCloseable {
    private final Process process;
    private final File complaints;

    private DyingPeerProcess(Process process, File complaints) {
        this.process = process;
        this.complaints = complaints;
    }

    /** Starts a process, which then waits for the address to connect to. */
    static DyingPeerProcess start(Map<String, String> environment) {
        return start(environment, List.of());
    }

    /** Starts one through another program. */
    static DyingPeerProcess start(Map<String, String> environment, List<String> through) {
        List<String> command = new ArrayList<>(through);
        command.addAll(List.of(
                ProcessHandle.current().info().command().orElseThrow(),
                "-Xmx64m",
                "-XX:+UseSerialGC",
                "-XX:-UsePerfData",
                "--enable-native-access=ALL-UNNAMED"));
        command.addAll(ForkedJava.startOptions());
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), DyingPeer.class.getName()));
        try {
            File complaints = File.createTempFile("sluice-dying-peer", ".txt");
            ProcessBuilder builder = new ProcessBuilder(command).redirectError(complaints);
            builder.environment().putAll(environment);
            return new DyingPeerProcess(builder.start(), complaints);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Has it connect, write the number to the region, and go on transferring; gives its own region's descriptor. */
    RegionDescriptor connectTo(TransferEngine engine, RegionDescriptor region, long number) {
        try {
            Writer in = process.outputWriter(StandardCharsets.UTF_8);
            in.write(engine.address() + " " + HexFormat.of().formatHex(region.toBytes()) + " " + number + "\n");
            in.flush();
            BufferedReader out = process.inputReader(StandardCharsets.UTF_8);
            Patience.until("the peer answers", () -> isReady(out));
            String line = out.readLine();
            if (line == null || line.charAt(0) != DyingPeer.ANSWER) {
                return fail("the peer says '%s', and complains: %s", line, Files.readString(complaints.toPath()));
            }
            return RegionDescriptor.fromBytes(HexFormat.of().parseHex(line.substring(1)));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private boolean isReady(BufferedReader out) {
        try {
            return out.ready() || !process.isAlive();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** SIGKILL: no goodbye. */
    void kill() {
        process.destroyForcibly();
        Patience.exit(process);
    }

    @Override
    public void close() {
        kill();
        try {
            process.getInputStream().close();
            process.getOutputStream().close();
        } catch (IOException pipeIsBroken) {
            // the process is gone
        }
        complaints.delete();
    }
}
