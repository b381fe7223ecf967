package io.sluice.engine.bootstrap;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.EngineAddress;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.control.MessageType;
import io.sluice.engine.session.LinkedEngines;
import io.sluice.testkit.ForkedJava;
import io.sluice.testkit.Patience;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Direct memory or descriptors that run out for a moment: what meets that fails by itself, and nothing stays taken. */
class ScarcityTest {
    private static final long DIRECT_BYTES = 8 << 20;
    private static final int DESCRIPTORS = 400;
    // for half the pollers of one that has many, and for what the machine takes by itself
    private static final int STACK_MIB = 256;
    private static final long ADDRESS_SPACE_KIB = (8 + STACK_MIB * ScarceProcessMain.MANY_POLLERS / 2 / 1024) << 20;
    private static final int STRANGERS = ScarceProcessMain.MAX_HALF_OPEN + 2;
    private static final byte[] BEGINNING = MessageSocket.header(0x534C, 1, MessageType.HELLO, 100);

    private final BlockingQueue<String> answers = new LinkedBlockingQueue<>();
    private final List<String> otherOutput = new CopyOnWriteArrayList<>();
    private Process process;
    private Writer commands;
    private EngineAddress address;

    @BeforeEach
    void start() throws IOException {
        List<String> command = new ArrayList<>(List.of(
                "/bin/sh",
                "-c",
                "ulimit -n " + DESCRIPTORS + "; ulimit -v " + ADDRESS_SPACE_KIB + "; exec \"$@\"",
                "sh",
                ProcessHandle.current().info().command().orElseThrow(),
                "-Xmx128m",
                "-Xss" + STACK_MIB + "m",
                "-XX:MaxDirectMemorySize=" + DIRECT_BYTES,
                "-XX:+UseSerialGC",
                "--enable-native-access=ALL-UNNAMED"));
        command.addAll(ForkedJava.startOptions());
        command.addAll(List.of(
                "-cp",
                System.getProperty("java.class.path"),
                ScarceProcessMain.class.getName(),
                Long.toString(DIRECT_BYTES)));
        process = new ProcessBuilder(command).redirectErrorStream(true).start();
        commands = process.outputWriter(StandardCharsets.UTF_8);
        Thread.ofPlatform().daemon().start(this::readOutput);
        address = EngineAddress.parse(Patience.take("its address", answers));
    }

    @AfterEach
    void end() throws IOException {
        commands.close();
        process.destroyForcibly();
    }

    private void readOutput() {
        try (BufferedReader in = process.inputReader(StandardCharsets.UTF_8)) {
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                if (line.startsWith(ScarceProcessMain.ANSWER)) {
                    answers.add(line.substring(ScarceProcessMain.ANSWER.length()));
                } else {
                    otherOutput.add(line);
                }
            }
        } catch (IOException e) {
            otherOutput.add(e.toString());
        }
    }

    private String ask(String command) {
        try {
            commands.write(command + "\n");
            commands.flush();
        } catch (IOException e) {
            throw new UncheckedIOException("its output: " + otherOutput, e);
        }
        return Patience.take("the answer to " + command + "; other output: " + otherOutput, answers);
    }

    private long number(String question) {
        return Long.parseLong(ask(question));
    }

    private Socket saying(byte[] bytes) throws IOException {
        Socket socket = new Socket(address.host(), address.port());
        socket.getOutputStream().write(bytes);
        return socket;
    }

    @Test
    void socketsThatAreAcceptedWithoutMemory() throws IOException {
        long descriptors = number("descriptors");
        ask("take-memory");
        List<Socket> strangers = new ArrayList<>();
        for (int i = 0; i < STRANGERS; i++) {
            strangers.add(saying(BEGINNING));
        }
        for (Socket stranger : strangers) {
            // there may be memory for one of them, which then waits for more
            stranger.shutdownOutput();
            MessageSocket.awaitEnd(stranger);
            stranger.close();
        }
        ask("give-memory");
        Patience.until("no slot stays taken", () -> number("half-open") == 0);
        assertThat(ask("connect")).isEqualTo("connected");
        Patience.until("no descriptor stays open", () -> number("descriptors") <= descriptors);
    }

    @Test
    void laneThatComesWithoutMemory() throws IOException {
        long descriptors = number("descriptors");
        try (RawPeer peer = new RawPeer(address)) {
            peer.hello();
            peer.welcomed();
            peer.authenticate();
            peer.accepted();
            ask("take-memory");
            try (Socket lane = saying(MessageSocket.encode(MessageType.LANE, peer.laneClaim(0)))) {
                MessageSocket.awaitEnd(lane);
            }
            ask("give-memory");
        }
        assertThat(ask("connect")).isEqualTo("connected");
        Patience.until("no descriptor stays open", () -> number("descriptors") <= descriptors);
    }

    @Test
    void connectWithoutMemory() {
        try (TransferEngine target = LinkedEngines.open(options -> {})) {
            assertThat(ask("connect " + target.address())).isEqualTo("connected");
            long descriptors = number("descriptors");
            ask("take-memory");
            assertThat(ask("connect " + target.address()))
                    .contains("ConnectFailedException")
                    .contains("short of memory");
            ask("give-memory");
            assertThat(ask("connect " + target.address())).isEqualTo("connected");
            Patience.until("no descriptor stays open", () -> number("descriptors") <= descriptors);
        }
    }

    @Test
    void openingWithoutThreads() {
        long descriptors = number("descriptors");
        long threads = number("threads");
        for (int i = 0; i < 2; i++) {
            assertThat(ask("open-many-threads"))
                    .startsWith("SluiceException: cannot open an engine")
                    .contains("fewer pollers");
        }
        Patience.until("no descriptor stays open", () -> number("descriptors") <= descriptors);
        Patience.until("no thread is left", () -> number("threads") <= threads);
        assertThat(ask("open")).isEqualTo("opened");
    }

    @Test
    void openingWithoutDescriptors() {
        long descriptors = number("descriptors");
        long buffers = number("direct-buffers");
        // one poller needs two, of which either may be the one that is lacking
        for (int left = 0; left < 4; left++) {
            ask("take-descriptors " + left);
            assertThat(ask("open")).startsWith("SluiceException: cannot ").contains("ulimit -n");
            ask("give-descriptors");
            Patience.until("no descriptor of a refused engine stays open", () -> number("descriptors") <= descriptors);
            assertThat(number("direct-buffers")).as("with %d left", left).isLessThanOrEqualTo(buffers);
        }
        assertThat(ask("open")).isEqualTo("opened");
    }
}
