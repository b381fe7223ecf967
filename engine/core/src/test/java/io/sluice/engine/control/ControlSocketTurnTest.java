package io.sluice.engine.control;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.progress.Poller;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A peer that sends without a pause gets a part of each cycle of its loop, and the loop's other connections theirs. */
class ControlSocketTurnTest {
    private static final int MESSAGES = 400;
    /** The length of a query for a thousand descriptors. */
    private static final int BODY_BYTES = 62_000;

    /** Counts messages, by the cycles of the loop. */
    private static final class Counting implements FramedSocket.Handler {
        private final Poller loop;
        private final AtomicInteger all = new AtomicInteger();
        private final AtomicInteger mostInACycle = new AtomicInteger();
        private int inThisCycle;

        Counting(Poller loop) {
            this.loop = loop;
        }

        @Override
        public void message(int type, ByteBuffer body) {
            if (inThisCycle++ == 0) {
                loop.atEndOfCycle(() -> {
                    mostInACycle.accumulateAndGet(inThisCycle, Math::max);
                    inThisCycle = 0;
                });
            }
            all.incrementAndGet();
        }

        @Override
        public void broken(String reason, @Nullable Throwable cause) {}
    }

    private static byte[] frames(int count, int bodyBytes) {
        byte[] frame = ByteBuffer.allocate(Frame.HEADER + bodyBytes)
                .putShort(Frame.MAGIC)
                .put(Frame.VERSION)
                .put((byte) MessageType.ATTACH)
                .putInt(bodyBytes)
                .array();
        ByteArrayOutputStream frames = new ByteArrayOutputStream();
        for (int i = 0; i < count; i++) {
            frames.writeBytes(frame);
        }
        return frames.toByteArray();
    }

    /** Long ones by their bytes: two at most, and one that had been received in part. Short ones by their number. */
    @ParameterizedTest
    @CsvSource({MESSAGES + "," + BODY_BYTES + ",4", "20000,1," + FramedSocket.MESSAGES_A_CYCLE})
    void messagesWithoutAPauseAreTakenAFewACycle(int messages, int bodyBytes, int most) throws Exception {
        Poller loop = new Poller("turns", 0, PatientOptions.builder().build(), failed -> {});
        loop.start();
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            int descriptor =
                    SocketConnect.begin(new InetSocketAddress(InetAddress.getLoopbackAddress(), server.getLocalPort()));
            try (Socket peer = server.accept()) {
                Counting counting = new Counting(loop);
                CountDownLatch done = new CountDownLatch(1);
                // the loop is held up until much has come
                CountDownLatch held = new CountDownLatch(1);
                loop.execute(() -> {
                    new FramedSocket(loop, descriptor, false, false, 1 << 21, counting);
                    Patience.await(held);
                });
                Thread sender = Thread.ofPlatform().daemon().start(() -> {
                    try {
                        peer.getOutputStream().write(frames(messages, bodyBytes));
                    } catch (IOException e) {
                        throw new AssertionError(e);
                    } finally {
                        done.countDown();
                    }
                });
                Patience.until("the sender waits for the loop", () -> sender.getState() != Thread.State.NEW);
                held.countDown();
                Patience.await(done);
                Patience.until("all messages are taken", () -> counting.all.get() == messages);
                assertThat(counting.mostInACycle).hasPositiveValue().hasValueLessThanOrEqualTo(most);
            }
        } finally {
            Patience.await(loop.stop());
        }
    }
}
