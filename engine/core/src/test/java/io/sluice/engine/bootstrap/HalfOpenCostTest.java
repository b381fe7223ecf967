package io.sluice.engine.bootstrap;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.control.Frame;
import io.sluice.engine.control.MessageType;
import io.sluice.engine.security.HandshakeBuffers;
import io.sluice.engine.tls.TestAuthority;
import io.sluice.engine.tls.TlsFiles;
import io.sluice.testkit.Patience;
import java.io.IOException;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.SSLSocketFactory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The memory that one socket costs an engine until its peer has proved that it may connect, by how far it has come. The figures
 * are printed; docs/limits.md has those of a whole run.
 */
class HalfOpenCostTest {
    private static final String TOKEN = "the token of this test";
    private static final int FEW = 16;
    private static final int SOCKETS = 200;
    private static final int TLS_SOCKETS = 50;
    // those that say nothing are closed after three tenths of the time-out of handshakes
    private static final Duration HELD_FOR = Patience.BOUND.dividedBy(5);
    private static final Duration SETTLED = Duration.ofMillis(100);
    private static final byte[] BEGINNING = MessageSocket.header(Frame.MAGIC, Frame.VERSION, MessageType.HELLO, 100);
    // a handshake record of 512 bytes, and in it a client's hello
    private static final byte[] BEGINNING_OF_TLS = {22, 3, 1, 2, 0, 1, 0, 1};

    /** Opens a socket and brings it as far as it is to come. */
    @FunctionalInterface
    private interface Opener {
        Socket open(StrangersTarget target) throws IOException;
    }

    /** How far a socket has come, and how many buffers it holds then. */
    private record Stage(String what, int buffers, Opener opener) {}

    /** The memory of one socket, in bytes; how many it was measured by. */
    private record Cost(String what, int sockets, double direct, double heap) {}

    private static Opener saying(byte[] bytes) {
        return target -> {
            Socket socket = new Socket(target.address().host(), target.address().port());
            socket.getOutputStream().write(bytes);
            return socket;
        };
    }

    /** Its hello is answered, and it says nothing more: as far as one comes that has no certificate. */
    private static Opener inTheMiddleOfTls(TlsFiles files) {
        SSLContext context = files.options().context();
        return target -> {
            SSLEngine engine = context.createSSLEngine();
            engine.setUseClientMode(true);
            ByteBuffer hello = ByteBuffer.allocate(engine.getSession().getPacketBufferSize());
            engine.wrap(ByteBuffer.allocate(0), hello);
            Socket socket =
                    saying(Arrays.copyOf(hello.array(), hello.position())).open(target);
            assertThat(socket.getInputStream().read())
                    .as("the type of the answer")
                    .isEqualTo(22);
            return socket;
        };
    }

    private static Opener withinTls(TlsFiles files, byte[] bytes) {
        SSLSocketFactory factory = files.options().context().getSocketFactory();
        return target -> {
            SSLSocket socket = (SSLSocket) factory.createSocket(
                    target.address().host(), target.address().port());
            socket.startHandshake();
            socket.getOutputStream().write(bytes);
            return socket;
        };
    }

    /**
     * Measures the cost of sockets in a process of their own.
     *
     * @param most that are held at once, fewer if the machine is too slow for that; a few show the direct memory alone
     */
    private static List<Cost> costs(int most, List<Stage> stages, String... arguments) throws IOException {
        for (int count = most; count > 0; count /= 2) {
            try (StrangersTarget target = StrangersTarget.startedFast(arguments)) {
                long direct = target.number("direct");
                List<Cost> costs = new ArrayList<>();
                for (Stage stage : stages) {
                    // what one stage had is kept for the next, which needs as much or more
                    long directNow = hold(target, count, stage, "direct");
                    double heap = most > FEW ? heapOfOne(target, count, stage) : 0;
                    if (directNow >= 0 && heap >= 0) {
                        costs.add(new Cost(stage.what(), count, (double) (directNow - direct) / count, heap));
                    }
                }
                if (costs.size() == stages.size()) {
                    return costs;
                }
            }
        }
        throw new AssertionError("not even one socket was held");
    }

    private static double heapOfOne(StrangersTarget target, int count, Stage stage) throws IOException {
        // what is made once has been made then, mostly
        hold(target, count, stage, "heap");
        long before = target.number("heap");
        long held = hold(target, count, stage, "heap");
        return held < 0 ? held : Math.max(0.0, held - before) / count;
    }

    /** Asks while they are held; negative if they were not held for so long. */
    private static long hold(StrangersTarget target, int count, Stage stage, String question) throws IOException {
        List<Socket> sockets = new ArrayList<>();
        try {
            long start = System.nanoTime();
            for (int i = 0; i < count; i++) {
                sockets.add(stage.opener().open(target));
            }
            while (target.number("half-open") < count || target.number("buffers") < (long) stage.buffers() * count) {
                if (System.nanoTime() - start > HELD_FOR.toNanos()) {
                    return -1;
                }
            }
            // what is made on other threads
            Patience.pause(SETTLED);
            long answer = target.number(question);
            return target.number("half-open") == count ? answer : -1;
        } finally {
            for (Socket socket : sockets) {
                socket.close();
            }
            Patience.until("they have gone", () -> target.number("half-open") == 0);
        }
    }

    private static void print(List<Cost> costs) {
        System.out.println("HalfOpenCostTest: one socket that is half-open costs");
        for (Cost each : costs) {
            System.out.println("%-55s %8.1f KiB direct %s (of %d)"
                    .formatted(
                            each.what(),
                            each.direct() / 1024,
                            each.heap() > 0 ? "%8.1f KiB heap".formatted(each.heap() / 1024) : "",
                            each.sockets()));
        }
    }

    /** Each socket's buffers, and a few that the engine used for a moment. */
    private static void assertBuffers(List<Cost> costs, List<Stage> stages) {
        for (int i = 0; i < costs.size(); i++) {
            Cost cost = costs.get(i);
            double few = 4.0 / cost.sockets();
            assertThat(cost.direct() / HandshakeBuffers.BYTES)
                    .as(cost.what())
                    .isBetween((double) stages.get(i).buffers(), stages.get(i).buffers() + few);
        }
    }

    private static void socket(int most) throws IOException {
        List<Stage> stages = List.of(
                new Stage("says nothing", 0, saying(new byte[0])),
                new Stage("has begun a message", 1, saying(BEGINNING)));
        List<Cost> costs = costs(most, stages, TOKEN);
        print(costs);
        assertBuffers(costs, stages);
    }

    private static void socketWithTls(int most, Path folder) throws IOException {
        TestAuthority authority = new TestAuthority(folder, "authority");
        TlsFiles files = authority.issue("CN=target,O=Example");
        TlsFiles stranger = authority.issue("CN=initiator,O=Example");
        List<Stage> stages = List.of(
                new Stage("with TLS: says nothing", 0, saying(new byte[0])),
                new Stage("with TLS: has begun a client's hello", 2, saying(BEGINNING_OF_TLS)),
                new Stage("with TLS: its hello is answered", 2, inTheMiddleOfTls(stranger)),
                new Stage("with TLS: after the handshake", 2, withinTls(stranger, new byte[0])),
                new Stage("with TLS: has begun a message after the handshake", 3, withinTls(stranger, BEGINNING)));
        List<Cost> costs = costs(
                most,
                stages,
                files.certificate().toString(),
                files.key().toString(),
                files.trusted().toString());
        print(costs);
        assertBuffers(costs, stages);
    }

    @Test
    void few() throws IOException {
        socket(FEW);
    }

    @Test
    void fewWithTls(@TempDir Path folder) throws IOException {
        socketWithTls(FEW, folder);
    }

    @Test
    @Tag("soak")
    void many() throws IOException {
        socket(SOCKETS);
    }

    @Test
    @Tag("soak")
    void manyWithTls(@TempDir Path folder) throws IOException {
        socketWithTls(TLS_SOCKETS, folder);
    }
}
