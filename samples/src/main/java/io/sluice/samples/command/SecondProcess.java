package io.sluice.samples.command;

import io.sluice.engine.EngineAddress;
import io.sluice.engine.SluiceException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * The other side of a command, in a process of its own on this machine. It ends when its standard input does, so it never
 * outlives this process, however that ends.
 */
record SecondProcess(String name, OwnedProcess process, EngineAddress address) implements AutoCloseable {
    private static final Duration DEATH = Duration.ofMillis(500);
    private static final Duration END = Duration.ofSeconds(6);

    /**
     * Starts one and waits until it listens.
     *
     * @param launcher what starts it, such as {@code taskset}; none for nothing
     * @param arguments the command, which takes {@code --ready-file} and {@code --until-input-ends}, and its options
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
        OwnedProcess process = null;
        try {
            process = new OwnedProcess(name, builder.start(), END);
            process.awaitReady(ready, "its messages stand above", termination);
            return new SecondProcess(name, process, ReadyFile.read(ready).engineAddress());
        } catch (IOException | RuntimeException e) {
            if (process != null) {
                process.close();
            }
            throw e;
        } finally {
            Files.deleteIfExists(ready);
            Files.deleteIfExists(folder);
        }
    }

    /** Returns the error to report for a transfer to it: the error itself, or the death of the process. */
    RuntimeException explain(SluiceException error) {
        // When it dies its connection does so first.
        return process.hasEnded(DEATH.toMillis())
                ? CommandFailure.failed(name + " ended with status " + process.status() + " before this one was done: "
                        + error.getMessage())
                : error;
    }

    @Override
    public void close() {
        process.close();
    }
}
