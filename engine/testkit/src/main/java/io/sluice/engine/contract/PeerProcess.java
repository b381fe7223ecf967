package io.sluice.engine.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import io.sluice.engine.EngineAddress;
import io.sluice.engine.RegionDescriptor;
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
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** A {@link ContractPeer} in a process of its own, which can be frozen and killed. It is gone once this is closed. */
final class PeerProcess implements AutoCloseable {
    private static final String END_OF_OUTPUT = "(its output has ended)";

    private final Process process;
    private final Writer commands;
    private final BlockingQueue<String> answers = new LinkedBlockingQueue<>();
    private final List<String> otherOutput = new CopyOnWriteArrayList<>();
    private final EngineAddress address;
    private final List<RegionDescriptor> regions;

    private PeerProcess(Process process) {
        this.process = process;
        this.commands = new OutputStreamWriter(process.getOutputStream(), StandardCharsets.UTF_8);
        Thread.ofPlatform().daemon().name("output of " + process.pid()).start(this::readOutput);
        // it needs what the machine's other work leaves: processors, and the disk that it is loaded from
        String[] ready = nextAnswer("starting", Patience.longBound()).split(" ");
        assertThat(ready[0])
                .as("the peer's first word; its other output: %s", otherOutput)
                .isEqualTo("READY");
        address = EngineAddress.parse(ready[1]);
        regions = Arrays.stream(ready).skip(2).map(PeerProcess::descriptor).toList();
    }

    static PeerProcess start(TransportUnderTest transport, long... regionBytes) {
        return start(transport, Map.of(), regionBytes);
    }

    /** Starts one with more {@code SLUICE_*} variables than the transport's own. */
    static PeerProcess start(TransportUnderTest transport, Map<String, String> settings, long... regionBytes) {
        List<String> command = new ArrayList<>(List.of(
                ProcessHandle.current().info().command().orElseThrow(),
                "-Xmx256m",
                "-XX:+UseSerialGC",
                "-Xcheck:jni",
                "--enable-native-access=ALL-UNNAMED"));
        command.addAll(ForkedJava.startOptions());
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), ContractPeer.class.getName()));
        Arrays.stream(regionBytes).mapToObj(Long::toString).forEach(command::add);
        Map<String, String> environment = new HashMap<>(transport.targetEnvironment());
        environment.putAll(settings);
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().putAll(environment);
        Process process;
        try {
            process = builder.start();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        try {
            return new PeerProcess(process);
        } catch (RuntimeException | Error e) {
            process.destroyForcibly();
            throw e;
        }
    }

    private static RegionDescriptor descriptor(String hexadecimal) {
        return RegionDescriptor.fromBytes(HexFormat.of().parseHex(hexadecimal));
    }

    private void readOutput() {
        try (BufferedReader in = process.inputReader(StandardCharsets.UTF_8)) {
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                if (!line.isEmpty() && line.charAt(0) == ContractPeer.ANSWER) {
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

    /** Waits for the answer to a command that was only sent. */
    String nextAnswer(String command) {
        return nextAnswer(command, Patience.BOUND);
    }

    private String nextAnswer(String command, Duration bound) {
        try {
            String answer = answers.poll(bound.toNanos(), TimeUnit.NANOSECONDS);
            if (answer == null) {
                signal("QUIT");
                // for the dump of its threads to arrive
                boolean ended = process.waitFor(2, TimeUnit.SECONDS);
                fail(
                        "no answer to '%s' within %s%s; its other output: %s",
                        command, bound, ended ? "" : ", and it still runs", otherOutput);
            } else if (answer.equals(END_OF_OUTPUT)) {
                boolean ended = process.waitFor(10, TimeUnit.SECONDS);
                fail(
                        "no answer to '%s': its output has ended, its exit status is %s; its other output: %s",
                        command, ended ? process.exitValue() : "not known yet", otherOutput);
            }
            return answer;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted while the peer was " + command, e);
        }
    }

    /** Gives a command whose answer is waited for later. */
    void send(String command) {
        try {
            commands.write(command + "\n");
            commands.flush();
        } catch (IOException e) {
            throw new AssertionError("the peer is gone; its other output: " + otherOutput, e);
        }
    }

    /** Has a command obeyed; what the peer answers after its OK. */
    String command(String command) {
        send(command);
        String answer = nextAnswer(command);
        if (!answer.startsWith("OK ")) {
            fail("the peer answered '%s' with '%s'; its other output: %s", command, answer, otherOutput);
        }
        return answer.substring(3);
    }

    EngineAddress address() {
        return address;
    }

    RegionDescriptor region(int index) {
        return regions.get(index);
    }

    void fill(int region, long seed) {
        command("fill " + region + " " + seed);
    }

    int checksum(int region, long offset, long length) {
        return Integer.parseUnsignedInt(command("checksum " + region + " " + offset + " " + length), 16);
    }

    /** The output that was no answer: warnings of the virtual machine, among others. */
    List<String> otherOutput() {
        return otherOutput;
    }

    /** SIGKILL: no goodbye. */
    void kill() {
        process.destroyForcibly();
    }

    void awaitDeath() {
        Patience.exit(process);
    }

    /** SIGSTOP: its sockets stay open, and nothing answers. */
    void freeze() {
        signal("STOP");
        // The signal is on its way only; a thread that is running may still answer.
        Patience.until("all threads of the peer have stopped", this::isFrozen);
    }

    private boolean isFrozen() {
        Path tasks = Path.of("/proc", Long.toString(process.pid()), "task");
        try (Stream<Path> threads = Files.list(tasks)) {
            return threads.allMatch(thread -> stateOf(thread) == 'T');
        } catch (IOException e) {
            throw new UncheckedIOException("the peer is gone", e);
        }
    }

    private static char stateOf(Path thread) {
        try {
            String stat = Files.readString(thread.resolve("stat"));
            return stat.charAt(stat.lastIndexOf(')') + 2);
        } catch (IOException e) {
            // It has just ended, which is as good; the next look does not find it any more.
            return '?';
        }
    }

    /** SIGCONT. */
    void thaw() {
        signal("CONT");
    }

    /** Lets it have no more of a resource than this from now on, as {@code prlimit} calls it. */
    void limit(String resource, long most) {
        run("prlimit --pid " + process.pid() + " --" + resource + "=" + most + ":");
    }

    private void signal(String name) {
        run("kill -" + name + " " + process.pid());
    }

    private static void run(String command) {
        try {
            Process shell = new ProcessBuilder("sh", "-c", command).inheritIO().start();
            assertThat(Patience.exit(shell)).as("exit status of %s", command).isZero();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        // A frozen process dies of it as well.
        process.destroyForcibly();
    }
}
