package io.sluice.engine.bootstrap;

import io.sluice.engine.EngineAddress;
import io.sluice.testkit.ForkedJava;
import io.sluice.testkit.Patience;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;

/** A process of {@link StrangersTargetMain}, whose memory is that of its engine and of nothing else. */
final class StrangersTarget implements AutoCloseable {
    private final BlockingQueue<String> answers = new LinkedBlockingQueue<>();
    private final List<String> otherOutput = new CopyOnWriteArrayList<>();
    private final Process process;
    private final Writer commands;
    private final EngineAddress address;

    /** Starts it with these options of the JVM, and arguments of its own. */
    StrangersTarget(List<String> options, String... arguments) {
        List<String> command = new ArrayList<>(List.of(
                ProcessHandle.current().info().command().orElseThrow(),
                "-Xmx256m",
                "-XX:+UseSerialGC",
                "--enable-native-access=ALL-UNNAMED"));
        command.addAll(options);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), StrangersTargetMain.class.getName()));
        command.addAll(List.of(arguments));
        try {
            process = new ProcessBuilder(command).redirectErrorStream(true).start();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        commands = process.outputWriter(StandardCharsets.UTF_8);
        Thread.ofPlatform().daemon().start(this::readOutput);
        address = EngineAddress.parse(Patience.take("its address", answers));
    }

    /** One that is ready soon. */
    static StrangersTarget startedFast(String... arguments) {
        return new StrangersTarget(ForkedJava.startOptions(), arguments);
    }

    private void readOutput() {
        try (BufferedReader in = process.inputReader(StandardCharsets.UTF_8)) {
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                if (line.startsWith(StrangersTargetMain.ANSWER)) {
                    answers.add(line.substring(StrangersTargetMain.ANSWER.length()));
                } else {
                    otherOutput.add(line);
                }
            }
        } catch (IOException e) {
            otherOutput.add(e.toString());
        }
    }

    EngineAddress address() {
        return address;
    }

    InetSocketAddress socketAddress() {
        return new InetSocketAddress(address.host(), address.port());
    }

    /** The warnings and errors that it has logged. */
    List<String> log() {
        return otherOutput;
    }

    String ask(String question) {
        try {
            commands.write(question + "\n");
            commands.flush();
        } catch (IOException e) {
            throw new UncheckedIOException("its output: " + otherOutput, e);
        }
        return Patience.take("the answer to " + question + "; other output: " + otherOutput, answers);
    }

    long number(String question) {
        return Long.parseLong(ask(question));
    }

    @Override
    public void close() {
        try {
            commands.close();
        } catch (IOException e) {
            // it has ended by itself
        } finally {
            process.destroyForcibly();
        }
    }
}
