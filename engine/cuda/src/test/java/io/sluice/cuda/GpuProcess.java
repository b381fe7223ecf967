package io.sluice.cuda;

import io.sluice.testkit.ForkedJava;
import io.sluice.testkit.Patience;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** Another virtual machine that sees the same GPUs. It answers in lines. */
final class GpuProcess implements AutoCloseable {
    private final Process process;
    private final BufferedReader answers;
    private final BufferedWriter commands;

    GpuProcess(Class<?> main, String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                ProcessHandle.current().info().command().orElseThrow(),
                "-Xmx128m",
                "-XX:+UseSerialGC",
                "--enable-native-access=ALL-UNNAMED",
                "-Dbasedir=" + System.getProperty("basedir", System.getProperty("user.dir"))));
        command.addAll(SoftGpu.javaOptions());
        command.addAll(ForkedJava.startOptions());
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
        command.addAll(List.of(arguments));
        process = new ProcessBuilder(command).redirectError(Redirect.INHERIT).start();
        answers = process.inputReader();
        commands = process.outputWriter();
    }

    String answer() {
        return Patience.await(CompletableFuture.supplyAsync(() -> {
            try {
                return String.valueOf(answers.readLine());
            } catch (IOException e) {
                throw new IllegalStateException("the process is gone", e);
            }
        }));
    }

    String answerTo(String command) throws IOException {
        commands.write(command + "\n");
        commands.flush();
        return answer();
    }

    /** SIGKILL. */
    void kill() {
        process.destroyForcibly();
    }

    @Override
    public void close() {
        kill();
        Patience.exit(process);
    }
}
