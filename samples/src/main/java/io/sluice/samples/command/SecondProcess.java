package io.sluice.samples.command;

import io.sluice.engine.EngineAddress;
import io.sluice.engine.SluiceException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The other side of a command, in a process of its own on this machine. It ends when its standard input does, so it never
 * outlives this process, however that ends.
 */
final class SecondProcess implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(SecondProcess.class);
    private static final Duration START = Duration.ofSeconds(60);
    private static final Duration DEATH = Duration.ofMillis(500);
    private static final Duration END = Duration.ofSeconds(6);
    private static final Duration END_BY_SIGNAL = Duration.ofSeconds(2);
    private static final long POLL_MILLIS = 10;

    private final String name;
    private final Process process;
    private final EngineAddress address;

    private SecondProcess(String name, Process process, EngineAddress address) {
        this.name = name;
        this.process = process;
        this.address = address;
    }

    /**
     * Starts one and waits until it listens.
     *
     * @param name what it is called in messages
     * @param launcher what starts it, such as {@code taskset}; none for nothing
     * @param arguments the command, which takes {@code --ready-file} and {@code --until-input-ends}, and its options
     * @param termination ends the waiting
     * @throws CommandFailure if it does not come up
     */
    static SecondProcess start(String name, List<String> launcher, List<String> arguments, Termination termination)
            throws IOException {
        Path folder = Files.createTempDirectory("sluice-");
        Path ready = folder.resolve("ready.json");
        List<String> complete = new ArrayList<>(arguments);
        complete.addAll(List.of("--ready-file", ready.toString(), "--until-input-ends"));
        List<String> command = new ArrayList<>(launcher);
        command.addAll(JavaCommand.of(complete));
        ProcessBuilder builder = new ProcessBuilder(command)
                .redirectOutput(ProcessBuilder.Redirect.INHERIT)
                .redirectError(ProcessBuilder.Redirect.INHERIT);
        // These are about peers on other machines, and about this process, which is another one than that.
        builder.environment().keySet().removeAll(List.of("SLUICE_LISTEN", "SLUICE_ADVERTISE"));
        Process process = null;
        try {
            process = builder.start();
            return new SecondProcess(name, process, await(name, process, ready, termination));
        } catch (IOException | RuntimeException e) {
            if (process != null) {
                end(name, process);
            }
            throw e;
        } finally {
            Files.deleteIfExists(ready);
            Files.deleteIfExists(folder);
        }
    }

    private static EngineAddress await(String name, Process process, Path ready, Termination termination)
            throws IOException {
        long deadline = System.nanoTime() + START.toNanos();
        while (!Files.exists(ready)) {
            if (termination.isRequested()) {
                throw CommandFailure.failed("interrupted before " + name + " was ready");
            }
            if (waitFor(process, POLL_MILLIS)) {
                throw CommandFailure.failed(name + " ended with status " + process.exitValue()
                        + " before it was ready; what it has to say stands above");
            }
            if (System.nanoTime() - deadline > 0) {
                throw CommandFailure.failed(name + " was not ready within " + START.toSeconds() + " s");
            }
        }
        return ReadyFile.read(ready).engineAddress();
    }

    /** Where it listens. */
    EngineAddress address() {
        return address;
    }

    /** What to say of an error of a transfer to it: the error itself, or one that knows more. */
    RuntimeException explain(SluiceException error) {
        // When it dies its connection does so first.
        return waitFor(process, DEATH.toMillis())
                ? CommandFailure.failed(name + " ended with status " + process.exitValue()
                        + " before this one was done: " + error.getMessage())
                : error;
    }

    @Override
    public void close() {
        end(name, process);
    }

    private static void end(String name, Process process) {
        try {
            process.getOutputStream().close();
        } catch (IOException e) {
            throw new UncheckedIOException("a pipe can always be closed", e);
        }
        if (waitFor(process, END.toMillis())) {
            return;
        }
        LOG.warn("{}, process {}, does not end by itself; ending it", name, process.pid());
        process.destroy();
        if (!waitFor(process, END_BY_SIGNAL.toMillis())) {
            process.destroyForcibly();
        }
    }

    private static boolean waitFor(Process process, long millis) {
        try {
            return process.waitFor(millis, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            process.destroy();
            throw CommandFailure.failed("interrupted while waiting for another process");
        }
    }
}
