package io.sluice.cuda;

import io.sluice.testkit.ForkedJava;
import io.sluice.testkit.Patience;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/** Another virtual machine with the same GPUs, which answers each line by a line. */
final class ForkedMain implements AutoCloseable {
    private final Process process;
    private final BufferedReader answers;
    private final BufferedWriter commands;

    /**
     * Starts one.
     *
     * @param visible the GPUs that it sees, as {@code CUDA_VISIBLE_DEVICES} names them
     */
    ForkedMain(Class<?> main, String visible) {
        this(main, Map.of("CUDA_VISIBLE_DEVICES", visible));
    }

    /**
     * Starts one.
     *
     * @param variables further ones of its environment
     */
    ForkedMain(Class<?> main, Map<String, String> variables) {
        List<String> command = new ArrayList<>(List.of(
                ProcessHandle.current().info().command().orElseThrow(),
                "-Xmx128m",
                "-XX:+UseSerialGC",
                "--enable-native-access=ALL-UNNAMED",
                "-Dbasedir=" + System.getProperty("basedir", System.getProperty("user.dir"))));
        if (SoftGpu.javaOptions().isEmpty()) {
            command.add("-D" + Driver.LIBRARY_PROPERTY + "=" + SoftGpu.file());
        }
        command.addAll(SoftGpu.javaOptions());
        command.addAll(ForkedJava.startOptions());
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
        ProcessBuilder builder = new ProcessBuilder(command).redirectError(Redirect.INHERIT);
        builder.environment().putAll(variables);
        try {
            process = builder.start();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
        answers = process.inputReader();
        commands = process.outputWriter();
    }

    /** Its next line. */
    String answer() {
        return Patience.await(CompletableFuture.supplyAsync(() -> {
            try {
                return String.valueOf(answers.readLine());
            } catch (IOException e) {
                throw new IllegalStateException("the other process is gone", e);
            }
        }));
    }

    /** Sends a command; returns the answer. */
    String ask(String command) {
        try {
            commands.write(command + "\n");
            commands.flush();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
        return answer();
    }

    @Override
    public void close() {
        process.destroyForcibly();
        Patience.exit(process);
    }
}
