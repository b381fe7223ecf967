package io.sluice.engine.flow;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.Connection;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionMemory;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.TransferCallback;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.progress.Poller;
import io.sluice.engine.transport.Capabilities;
import io.sluice.engine.transport.CompletionStatus;
import io.sluice.engine.transport.Endpoint;
import io.sluice.engine.transport.NotificationSender;
import io.sluice.engine.transport.RegisteredMemory;
import io.sluice.engine.transport.RemoteKey;
import io.sluice.engine.transport.WorkRequest;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The poller processes each hand-over, also one that races with the end of its look at the previous one. */
class HandOverTest {
    private static final boolean SOAK =
            System.getProperty("sluice.test.profile", "").equals("soak");
    private static final Duration TIME = Duration.ofSeconds(SOAK ? 15 : 1);
    private static final long PATIENCE_NANOS = Patience.BOUND.toNanos();
    private static final long YIELDING_NANOS = 1_000_000;
    private static final int SHORTEST_BURST = 2;
    private static final int LONGEST_BURST = 10;

    // the poller does not sleep, so that it meets the submitting thread as often as can be
    private static final EngineOptions SPINNING =
            PatientOptions.builder().spin(Duration.ofSeconds(60)).build();

    private final AtomicLong ended = new AtomicLong();
    private final AtomicLong failed = new AtomicLong();

    private final TransferCallback signal = (transfer, error) -> {
        if (error != null) {
            failed.incrementAndGet();
        }
        ended.incrementAndGet();
    };

    @Test
    void burstsOfSmallWritesAreNotLeftBehind() throws Exception {
        TransferEngine engine = TransferEngine.open(SPINNING);
        try {
            Connection connection = Patience.await(engine.connect(engine.address()));
            MemoryRegion region = engine.allocate(4096, RegionOptions.readWrite());
            RemoteRegion remote = Patience.await(connection.attach(region.descriptor()));
            submitBursts(TIME, burst -> {
                for (int i = 0; i < burst; i++) {
                    connection.write(region, 0, remote, 0, 8, TransferOptions.defaults(), signal);
                }
            });
        } finally {
            Patience.await(engine.closeAsync());
        }
    }

    /** Without sockets the hand-overs follow each other faster, and so meet more often. */
    @Test
    void burstsMeetAnEndpointThatCompletesAtOnce() throws Exception {
        Poller poller = new Poller("hand-over-test", 0, SPINNING, failing -> {});
        ImmediateEndpoint endpoint = new ImmediateEndpoint(poller);
        ConnectionFlow flow = endpoint.flow;
        poller.start();
        try {
            RemoteKey key = new RemoteKey(0, 0, 0);
            submitBursts(TIME, burst -> {
                for (int i = 0; i < burst; i++) {
                    new TransferFactory(flow)
                            .single(
                                    WorkRequest.Opcode.WRITE,
                                    new ElementPlan(new AlwaysLeased(), 0, key, 0, 8),
                                    TransferOptions.defaults(),
                                    signal)
                            .start();
                }
            });
        } finally {
            Patience.await(poller.stop());
        }
    }

    /** The question empties the mailbox too, and must leave none behind either. */
    @Test
    void quiescenceIsAnsweredBetweenBursts() throws Exception {
        Poller poller = new Poller("hand-over-test", 0, SPINNING, failing -> {});
        ConnectionFlow flow = new ImmediateEndpoint(poller).flow;
        poller.start();
        try {
            CountDownLatch answered = new CountDownLatch(1000);
            RemoteKey key = new RemoteKey(0, 0, 0);
            for (int i = 0; i < 1000; i++) {
                new TransferFactory(flow)
                        .single(
                                WorkRequest.Opcode.READ,
                                new ElementPlan(new AlwaysLeased(), 0, key, 0, 8),
                                TransferOptions.defaults(),
                                signal)
                        .start();
                flow.quiesced().thenRun(answered::countDown);
            }
            Patience.await(answered);
            awaitEnded(1000);
        } finally {
            Patience.await(poller.stop());
        }
    }

    private void submitBursts(Duration time, IntConsumer submit) {
        long end = System.nanoTime() + time.toNanos();
        long submitted = 0;
        int burst = SHORTEST_BURST;
        while (System.nanoTime() < end) {
            submit.accept(burst);
            submitted += burst;
            awaitEnded(submitted);
            burst = burst == LONGEST_BURST ? SHORTEST_BURST : burst + 1;
        }
        assertThat(failed).hasValue(0);
    }

    private void awaitEnded(long count) {
        long start = System.nanoTime();
        while (ended.get() != count) {
            Thread.onSpinWait();
            long waited = System.nanoTime() - start;
            if (waited > YIELDING_NANOS) {
                // on a busy machine the poller may need this very processor
                Thread.yield();
            }
            if (waited > PATIENCE_NANOS) {
                assertThat(ended).as("transfers that have ended").hasValue(count);
            }
        }
    }

    /** Takes everything and completes it in the next cycle. */
    private static final class ImmediateEndpoint implements Endpoint {
        private final Poller poller;
        private final ConnectionFlow flow;

        @SuppressWarnings("NullAway") // the flow hands its connection out and does nothing else with it
        ImmediateEndpoint(Poller poller) {
            this.poller = poller;
            this.flow = new ConnectionFlow(
                    null,
                    poller,
                    SPINNING,
                    new EngineWindow(1024, 1 << 20),
                    List.of(new FlowPath(0, new Capabilities(1 << 20, true), this, ConnectionCounters.alone())),
                    new NotificationSender() {
                        @Override
                        public boolean hasRoom() {
                            return false;
                        }

                        @Override
                        public void send(byte[] payload) {
                            throw new UnsupportedOperationException();
                        }
                    },
                    1);
        }

        @Override
        public byte[] offer() {
            return new byte[0];
        }

        @Override
        public void begin(byte[] peerOffer) {}

        @Override
        public int post(WorkRequest[] batch, int from, int count) {
            for (int i = from; i < from + count; i++) {
                WorkRequest request = batch[i];
                poller.execute(() -> flow.completed(request, CompletionStatus.SUCCESS));
            }
            return count;
        }

        @Override
        public void close() {}

        @Override
        public boolean isQuiescent() {
            return true;
        }
    }

    private static final class AlwaysLeased implements LeasedMemory {
        private static final RegionMemory NOTHING = RegionMemory.host(MemorySegment.NULL);

        @Override
        public @Nullable RegisteredMemory registration(int transport) {
            return null;
        }

        @Override
        public boolean acquire() {
            return true;
        }

        @Override
        public void release() {}

        @Override
        public RegionMemory memory() {
            return NOTHING;
        }
    }
}
