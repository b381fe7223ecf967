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
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.StringJoiner;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * A {@link ContractPeer} in a process of its own, which can be frozen and killed. Its engine is gone once this is closed; the
 * process waits for the next test of the same transport, as a start takes seconds where the processor is emulated.
 */
final class PeerProcess implements AutoCloseable {
    private static final String END_OF_OUTPUT = "(its output has ended)";
    /** How long one may take to be ready for the next test: then another is started. */
    private static final Duration SOON = Patience.scaled(Duration.ofSeconds(2));
    /** By the variables of their transport, one at most for each. */
    private static final Map<Map<String, String>, PeerProcess> IDLE = new ConcurrentHashMap<>();

    private final Map<String, String> environment;
    private final Process process;
    private final Writer commands;
    private final BlockingQueue<String> answers = new LinkedBlockingQueue<>();
    private final List<String> otherOutput = new CopyOnWriteArrayList<>();
    private EngineAddress address;
    private List<RegionDescriptor> regions;
    private boolean frozen;
    /** Killed, or short of a resource. */
    private boolean spoilt;

    private PeerProcess(Map<String, String> environment, Process process, String begin) {
        this.environment = environment;
        this.process = process;
        this.commands = new OutputStreamWriter(process.getOutputStream(), StandardCharsets.UTF_8);
        Thread.ofPlatform().daemon().name("output of " + process.pid()).start(this::readOutput);
        begin(begin);
    }

    /** Has it open an engine, with regions. */
    private void begin(String begin) {
        send(begin);
        // it needs what the machine's other work leaves: processors, and the disk that it is loaded from
        String[] ready = nextAnswer("starting", Patience.longBound()).split(" ");
        assertThat(ready[0])
                .as("the peer's first word; its other output: %s", otherOutput)
                .isEqualTo("READY");
        address = EngineAddress.parse(ready[1]);
        regions = Arrays.stream(ready).skip(2).map(PeerProcess::descriptor).toList();
    }

    /** Whether it has closed the engine that the test before used. */
    private boolean hasEnded() {
        try {
            String answer;
            do {
                answer = answers.poll(SOON.toNanos(), TimeUnit.NANOSECONDS);
            } while (answer != null && !answer.equals(ContractPeer.ENDED) && !answer.equals(END_OF_OUTPUT));
            return ContractPeer.ENDED.equals(answer);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    static PeerProcess start(TransportUnderTest transport, long... regionBytes) {
        return start(transport, Map.of(), regionBytes);
    }

    /** Starts one with more {@code SLUICE_*} variables than the transport's own. */
    static PeerProcess start(TransportUnderTest transport, Map<String, String> settings, long... regionBytes) {
        Map<String, String> environment = transport.targetEnvironment();
        StringJoiner begin = new StringJoiner(" ").add("begin");
        settings.forEach((name, value) -> begin.add(name + "=" + value));
        Arrays.stream(regionBytes).mapToObj(Long::toString).forEach(begin::add);
        PeerProcess idle = IDLE.remove(environment);
        if (idle != null && !idle.hasEnded()) {
            idle.process.destroyForcibly();
            idle = null;
        }
        if (idle == null) {
            return startAnother(environment, begin.toString());
        }
        try {
            idle.otherOutput.clear();
            idle.begin(begin.toString());
            return idle;
        } catch (RuntimeException | Error e) {
            idle.process.destroyForcibly();
            throw e;
        }
    }

    private static PeerProcess startAnother(Map<String, String> environment, String begin) {
        List<String> command = new ArrayList<>(List.of(
                ProcessHandle.current().info().command().orElseThrow(),
                "-Xmx256m",
                "-XX:+UseSerialGC",
                "-Xcheck:jni",
                "--enable-native-access=ALL-UNNAMED"));
        command.addAll(ForkedJava.startOptions());
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), ContractPeer.class.getName()));
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().putAll(environment);
        Process process;
        try {
            process = builder.start();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        try {
            return new PeerProcess(environment, process, begin);
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
        spoilt = true;
        process.destroyForcibly();
    }

    void awaitDeath() {
        Patience.exit(process);
    }

    /** SIGSTOP: its sockets stay open, and nothing answers. */
    void freeze() {
        frozen = true;
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
        frozen = false;
    }

    /** Lets it have no more of a resource than this from now on, as {@code prlimit} calls it. */
    void limit(String resource, long most) {
        spoilt = true;
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
        if (spoilt || !process.isAlive()) {
            process.destroyForcibly();
            return;
        }
        try {
            if (frozen) {
                thaw();
            }
            send("end");
        } catch (AssertionError gone) {
            process.destroyForcibly();
            return;
        }
        PeerProcess other = IDLE.put(environment, this);
        if (other != null) {
            other.process.destroyForcibly();
        }
    }
}
