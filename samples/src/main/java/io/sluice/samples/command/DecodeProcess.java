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
 * A decode side in a process of its own on this machine. It ends when its standard input does, so it never outlives
 * this process, however that ends.
 */
final class DecodeProcess implements DecodeSide {

    private static final Logger LOG = LoggerFactory.getLogger(DecodeProcess.class);
    private static final Duration START = Duration.ofSeconds(60);
    private static final Duration DEATH = Duration.ofMillis(500);
    private static final Duration END = Duration.ofSeconds(6);
    private static final Duration END_BY_SIGNAL = Duration.ofSeconds(2);
    private static final long POLL_MILLIS = 10;

    private final Process process;
    private final EngineAddress address;

    private DecodeProcess(Process process, EngineAddress address) {
        this.process = process;
        this.address = address;
    }

    /**
     * Starts one and waits until it listens.
     *
     * @param options of the decode command
     * @param termination ends the waiting
     * @throws CommandFailure if it does not come up
     */
    static DecodeProcess start(List<String> options, Termination termination) throws IOException {
        Path folder = Files.createTempDirectory("sluice-decode-");
        Path ready = folder.resolve("ready.json");
        List<String> arguments = new ArrayList<>(List.of("decode"));
        arguments.addAll(options);
        arguments.addAll(List.of("--ready-file", ready.toString(), "--once", "--until-input-ends"));
        ProcessBuilder builder = new ProcessBuilder(JavaCommand.of(arguments))
                .redirectOutput(ProcessBuilder.Redirect.INHERIT)
                .redirectError(ProcessBuilder.Redirect.INHERIT);
        // These are about peers on other machines, and about this process, which is another one than that.
        builder.environment().keySet().removeAll(List.of("SLUICE_LISTEN", "SLUICE_ADVERTISE"));
        Process process = null;
        try {
            process = builder.start();
            return new DecodeProcess(process, await(process, ready, termination));
        } catch (IOException | RuntimeException e) {
            if (process != null) {
                end(process);
            }
            throw e;
        } finally {
            Files.deleteIfExists(ready);
            Files.deleteIfExists(folder);
        }
    }

    private static EngineAddress await(Process process, Path ready, Termination termination) throws IOException {
        long deadline = System.nanoTime() + START.toNanos();
        while (!Files.exists(ready)) {
            if (termination.isRequested()) {
                throw CommandFailure.failed("interrupted before the decode process was ready");
            }
            if (waitFor(process, POLL_MILLIS)) {
                throw CommandFailure.failed("the decode process ended with status " + process.exitValue()
                        + " before it was ready; what it has to say stands above");
            }
            if (System.nanoTime() - deadline > 0) {
                throw CommandFailure.failed("the decode process was not ready within " + START.toSeconds() + " s");
            }
        }
        return ReadyFile.read(ready).engineAddress();
    }

    @Override
    public EngineAddress address() {
        return address;
    }

    @Override
    public RuntimeException explain(SluiceException error) {
        // When it dies its connection does so first.
        return waitFor(process, DEATH.toMillis())
                ? CommandFailure.failed("the decode process ended with status " + process.exitValue()
                        + " before the replay did: " + error.getMessage())
                : error;
    }

    @Override
    public void close() {
        end(process);
    }

    private static void end(Process process) {
        try {
            process.getOutputStream().close();
        } catch (IOException e) {
            throw new UncheckedIOException("a pipe can always be closed", e);
        }
        if (waitFor(process, END.toMillis())) {
            return;
        }
        LOG.warn("the decode process {} does not end by itself; ending it", process.pid());
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
            throw CommandFailure.failed("interrupted while waiting for the decode process");
        }
    }
}
