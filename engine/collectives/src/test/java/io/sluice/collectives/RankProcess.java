package io.sluice.collectives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import io.sluice.engine.EngineAddress;
import io.sluice.testkit.ForkedJava;
import io.sluice.testkit.Patience;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.OutputStreamWriter;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A {@link RankProcessMain}, which can be frozen and killed. It is gone once this is closed. */
final class RankProcess implements AutoCloseable {
    private static final String END_OF_OUTPUT = "(its output has ended)";

    private final Process process;
    private final BlockingQueue<String> answers = new LinkedBlockingQueue<>();
    private final List<String> otherOutput = new CopyOnWriteArrayList<>();
    private @Nullable EngineAddress address;

    private RankProcess(Process process) {
        this.process = process;
        Thread.ofPlatform().daemon().name("output of " + process.pid()).start(this::readOutput);
    }

    /** Starts one, and does not wait for it. */
    static RankProcess start(String transport) {
        List<String> command = new ArrayList<>(List.of(
                ProcessHandle.current().info().command().orElseThrow(),
                "-Xmx256m",
                "-XX:+UseSerialGC",
                "--enable-native-access=ALL-UNNAMED"));
        command.addAll(ForkedJava.startOptions());
        command.addAll(
                List.of("-cp", System.getProperty("java.class.path"), RankProcessMain.class.getName(), transport));
        try {
            return new RankProcess(
                    new ProcessBuilder(command).redirectErrorStream(true).start());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void readOutput() {
        try (BufferedReader in = process.inputReader(StandardCharsets.UTF_8)) {
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                if (!line.isEmpty() && line.charAt(0) == RankProcessMain.ANSWER) {
                    answers.add(line.substring(1));
                } else {
                    otherOutput.add(line);
                }
            }
        } catch (IOException e) {
            otherOutput.add(e.toString());
        }
        answers.add(END_OF_OUTPUT);
    }

    /** The next answer, which begins with a word; what follows the word. */
    String answer(String word) {
        try {
            String answer = answers.poll(Patience.longBound().toNanos(), TimeUnit.NANOSECONDS);
            if (answer == null || !answer.startsWith(word)) {
                fail("'%s' and not '%s'; its other output: %s", answer, word, otherOutput);
            }
            return answer.substring(word.length()).strip();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted while it waited for " + word, e);
        }
    }

    EngineAddress address() {
        EngineAddress known = address;
        if (known == null) {
            known = EngineAddress.parse(answer("address"));
            address = known;
        }
        return known;
    }

    /** Lets it form a team and call collectives. */
    void form(String name, int rank, int size, EngineAddress rankZero) {
        // it is ready then
        address();
        try {
            Writer commands = new OutputStreamWriter(process.getOutputStream(), StandardCharsets.UTF_8);
            commands.write(name + " " + rank + " " + size + " " + rankZero + "\n");
            commands.flush();
        } catch (IOException e) {
            throw new AssertionError("it is gone; its other output: " + otherOutput, e);
        }
    }

    /** SIGKILL: no goodbye. */
    void kill() {
        process.destroyForcibly();
    }

    /** SIGSTOP: its sockets stay open, and nothing answers. */
    void freeze() {
        signal("STOP");
        // the signal is on its way only
        Patience.until("all its threads have stopped", this::isFrozen);
    }

    private boolean isFrozen() {
        Path tasks = Path.of("/proc", Long.toString(process.pid()), "task");
        try (Stream<Path> threads = Files.list(tasks)) {
            return threads.allMatch(thread -> stateOf(thread) == 'T');
        } catch (IOException e) {
            throw new UncheckedIOException("it is gone", e);
        }
    }

    private static char stateOf(Path thread) {
        try {
            String stat = Files.readString(thread.resolve("stat"));
            return stat.charAt(stat.lastIndexOf(')') + 2);
        } catch (IOException e) {
            // it has just ended, and the next look does not find it
            return '?';
        }
    }

    /** SIGCONT. */
    void thaw() {
        signal("CONT");
    }

    private void signal(String name) {
        try {
            Process shell = new ProcessBuilder("sh", "-c", "kill -" + name + " " + process.pid())
                    .inheritIO()
                    .start();
            assertThat(Patience.exit(shell)).as("exit status of kill -%s", name).isZero();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        // a frozen process dies of it as well
        process.destroyForcibly();
    }
}
