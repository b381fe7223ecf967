package io.sluice.directory.contract;

import io.sluice.engine.EngineAddress;
import io.sluice.testkit.Patience;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** A publisher in its own process. */
public final class PublisherProcess implements ContractPublisher {
    private static final String END = "(its output has ended)";

    private final Process process;
    private final BlockingQueue<String> ready = new LinkedBlockingQueue<>();
    private final List<String> output = new CopyOnWriteArrayList<>();
    private final EngineAddress address;
    private final long epoch;

    private PublisherProcess(Process process) {
        this.process = process;
        Thread.ofPlatform().daemon().name("output of " + process.pid()).start(this::readOutput);
        String[] words = awaitReady().split(" ");
        address = EngineAddress.parse(words[1]);
        epoch = Long.parseUnsignedLong(words[2], 16);
    }

    /**
     * Starts a JVM and waits until it has published.
     *
     * @param program the class whose main method calls {@link PublisherProgram#run}
     * @param arguments its arguments
     * @return the process
     */
    public static PublisherProcess start(Class<?> program, String... arguments) {
        List<String> command = new ArrayList<>(List.of(
                ProcessHandle.current().info().command().orElseThrow(),
                "-Xmx256m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-XX:CompileThresholdScaling=4",
                "-XX:-UsePerfData",
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path"),
                program.getName()));
        command.addAll(List.of(arguments));
        Process process;
        try {
            process = new ProcessBuilder(command).redirectErrorStream(true).start();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        try {
            return new PublisherProcess(process);
        } catch (RuntimeException | Error e) {
            process.destroyForcibly();
            throw e;
        }
    }

    private void readOutput() {
        try (BufferedReader in = process.inputReader(StandardCharsets.UTF_8)) {
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                if (line.startsWith(PublisherProgram.READY)) {
                    ready.add(line);
                } else {
                    output.add(line);
                }
            }
        } catch (IOException e) {
            output.add(e.toString());
        }
        ready.add(END);
    }

    private String awaitReady() {
        try {
            String line = ready.poll(Patience.BOUND.toNanos(), TimeUnit.NANOSECONDS);
            if (line == null || line.equals(END)) {
                throw new AssertionError("the publisher is not ready; its output: " + output);
            }
            return line;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted while the publisher was starting", e);
        }
    }

    @Override
    public EngineAddress address() {
        return address;
    }

    @Override
    public long epoch() {
        return epoch;
    }

    @Override
    public void kill() {
        process.destroyForcibly();
        try {
            if (!process.waitFor(Patience.BOUND.toNanos(), TimeUnit.NANOSECONDS)) {
                throw new AssertionError("the publisher has survived SIGKILL");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted while the publisher was dying", e);
        }
    }

    /**
     * Sends SIGSTOP or SIGCONT.
     *
     * @param name the signal's name for {@code kill}
     */
    public void signal(String name) {
        ServerProcess.signal(process.pid(), name);
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
