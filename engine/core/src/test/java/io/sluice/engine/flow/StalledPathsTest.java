package io.sluice.engine.flow;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.EngineOptions;
import io.sluice.engine.SluiceException;
import io.sluice.engine.Transfer;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.TransferPriority;
import io.sluice.engine.VectoredTransferCallback;
import io.sluice.engine.transport.Capabilities;
import io.sluice.engine.transport.CompletionStatus;
import io.sluice.engine.transport.NotificationSender;
import io.sluice.engine.transport.RemoteKey;
import io.sluice.engine.transport.WorkRequest;
import io.sluice.testkit.FuzzSeed;
import io.sluice.testkit.PatientOptions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * Two connections with small windows share a small window of their engine, while their paths stall and go on at random: every
 * credit comes back, and what waits for one is not forgotten.
 */
class StalledPathsTest {
    private static final int ROUNDS = 150;
    private static final int STEPS = 400;
    private static final int CONNECTIONS = 2;
    private static final int PATHS = 3;
    private static final int WINDOW_BYTES = 64 << 10;
    private static final int MOST_OPERATIONS = 12;
    private static final int MOST_ELEMENTS = 3;
    private static final int SMALL = 64;
    private static final int LARGE = 40 << 10;
    private static final int MOST_TASKS = 20_000;
    private static final TransferPriority[] PRIORITIES = TransferPriority.values();

    /** An endpoint that has no room at times, and says when it has again. */
    private static final class StallingPath extends SteppedFlow.HeldRequests {
        private final ConnectionCounters counters = ConnectionCounters.alone();
        private boolean full;
        private boolean refused;

        @Override
        public int post(WorkRequest[] batch, int from, int count) {
            refused |= full;
            return full ? 0 : super.post(batch, from, count);
        }
    }

    private static final class Peer {
        private final List<StallingPath> paths =
                IntStream.range(0, PATHS).mapToObj(i -> new StallingPath()).toList();
        private final ConnectionFlow flow;

        @SuppressWarnings("NullAway") // the flow hands its connection out and does nothing else with it
        Peer(SteppedLoop loop, EngineWindow engine, EngineOptions options) {
            flow = new ConnectionFlow(
                    null,
                    loop,
                    options,
                    engine,
                    paths.stream()
                            .map(path -> new FlowPath(0, new Capabilities(1 << 20, true), path, path.counters))
                            .toList(),
                    new NotificationSender() {
                        @Override
                        public boolean hasRoom() {
                            return true;
                        }

                        @Override
                        public void send(byte[] payload) {}
                    },
                    1);
        }

        void full(int index, boolean full) {
            StallingPath path = paths.get(index);
            path.full = full;
            if (!full && path.refused) {
                path.refused = false;
                flow.postable(index);
            }
        }

        boolean completeNext(int index) {
            WorkRequest request = paths.get(index).held.pollFirst();
            if (request != null) {
                flow.completed(request, CompletionStatus.SUCCESS);
            }
            return request != null;
        }
    }

    private static final class Round implements VectoredTransferCallback {
        private final Random random;
        private final String name;
        private final SteppedLoop loop = new SteppedLoop();
        private final SteppedFlow.CountedLeases memory = new SteppedFlow.CountedLeases();
        private final EngineWindow engine;
        private final List<Peer> peers;
        private final List<Transfer> started = new ArrayList<>();
        private int ended;

        Round(Random random, int number) {
            this.random = random;
            this.name = "round " + number;
            engine = new EngineWindow(1 + random.nextInt(MOST_OPERATIONS), WINDOW_BYTES);
            EngineOptions options = PatientOptions.builder()
                    .windowOperations(1 + random.nextInt(MOST_OPERATIONS))
                    .windowBytes(WINDOW_BYTES)
                    .engineWindowBytes(WINDOW_BYTES)
                    .build();
            peers = IntStream.range(0, CONNECTIONS)
                    .mapToObj(i -> new Peer(loop, engine, options))
                    .toList();
        }

        private void step() {
            Peer peer = peers.get(random.nextInt(CONNECTIONS));
            int path = random.nextInt(PATHS);
            switch (random.nextInt(8)) {
                case 0 -> peer.full(path, random.nextBoolean());
                case 1, 2 -> write(peer.flow);
                case 3 -> settle();
                case 4 -> {
                    if (!started.isEmpty() && random.nextInt(4) == 0) {
                        started.get(random.nextInt(started.size())).cancel();
                    }
                }
                default -> peer.completeNext(path);
            }
        }

        private void write(ConnectionFlow flow) {
            ElementPlan[] elements = new ElementPlan[1 + random.nextInt(MOST_ELEMENTS)];
            Arrays.setAll(elements, i -> element());
            TransferOptions options =
                    TransferOptions.defaults().withPriority(PRIORITIES[random.nextInt(PRIORITIES.length)]);
            FlowTransfer write = (FlowTransfer)
                    new TransferFactory(flow).vectored(WorkRequest.Opcode.WRITE, elements, options, this);
            SteppedFlow.start(write);
            started.add(write);
        }

        private ElementPlan element() {
            RemoteKey key = new RemoteKey(0, 0, 0);
            key.path(random.nextInt(PATHS));
            return new ElementPlan(memory, 0, key, 0, random.nextInt(random.nextBoolean() ? SMALL : LARGE));
        }

        private void settle() {
            int tasks = 0;
            while (loop.runNext()) {
                assertThat(++tasks).as("tasks that wake each other, " + name).isLessThan(MOST_TASKS);
            }
        }

        /** All that the first so many paths take is done, until none takes more. */
        private void drain(int working) {
            boolean worked;
            do {
                settle();
                worked = false;
                for (Peer peer : peers) {
                    for (int path = 0; path < working; path++) {
                        worked |= peer.completeNext(path);
                    }
                }
            } while (worked || loop.hasTask());
        }

        private int posted() {
            return peers.stream()
                    .flatMap(peer -> peer.paths.stream())
                    .mapToInt(SteppedFlow.HeldRequests::posted)
                    .sum();
        }

        void run() {
            for (int i = 0; i < STEPS; i++) {
                step();
                assertThat(engine.bytes()).as(name).isBetween(0L, (long) WINDOW_BYTES);
            }
            // in every second one the last path of each never goes on
            int working = random.nextBoolean() ? PATHS : PATHS - 1;
            for (Peer peer : peers) {
                for (int path = 0; path < PATHS; path++) {
                    peer.full(path, path >= working);
                }
            }
            drain(working);
            int before = posted();
            for (Peer peer : peers) {
                peer.flow.postable(0);
                settle();
            }
            assertThat(posted())
                    .as("requests, after one was looked for, " + name)
                    .isEqualTo(before);
            if (working == PATHS) {
                assertThat(ended).as("terminal signals, " + name).isEqualTo(started.size());
                assertThat(engine.bytes()).as(name).isZero();
                assertThat(engine.operations()).as(name).isZero();
                assertThat(memory.leases()).as(name).isZero();
            }
        }

        @Override
        public void element(int index, @Nullable SluiceException error) {}

        @Override
        public void terminated(Transfer transfer, @Nullable SluiceException error) {
            ended++;
        }
    }

    @Test
    void creditsComeBackAndNothingIsForgotten() {
        FuzzSeed seed = FuzzSeed.of("StalledPathsTest");
        for (int i = 0; i < seed.scaled(ROUNDS); i++) {
            new Round(seed.random(i), i).run();
        }
    }
}
