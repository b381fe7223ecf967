package io.sluice.engine.transport.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.EngineOptions;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.NotificationListener;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.RemoteSignal;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransferOptions;
import io.sluice.testkit.EngineSums;
import io.sluice.testkit.Patience;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** An engine that has nothing to do sleeps, and the completion channel wakes it. */
@Tag("verbs")
@Tag("softroce")
class ParkedLoopTest {
    private static final Duration WATCHED = Duration.ofMillis(200);
    private static final TransferOptions DEFAULTS = TransferOptions.defaults();

    /** No timer of the engine's would wake it in time. */
    private static void parking(EngineOptions.Builder options) {
        options.spin(Duration.ZERO).yield(Duration.ZERO).livenessTimeout(Duration.ofHours(1));
    }

    private static long polls(TransferEngine engine) {
        return EngineSums.ofPollers(engine, poller -> poller.emptyPolls() + poller.busyPolls());
    }

    private static long pollsWhileIdle(VerbsPair pair) {
        TransferEnd end = new TransferEnd();
        pair.connection().notify(new byte[1], DEFAULTS, end);
        end.awaitSuccess();
        // an engine that parks is about to
        Patience.pause(Duration.ofMillis(50));
        long before = polls(pair.initiator()) + polls(pair.target());
        Patience.pause(WATCHED);
        return polls(pair.initiator()) + polls(pair.target()) - before;
    }

    @Test
    void idleEnginesDoNotPoll() {
        long busy;
        try (VerbsPair pair = VerbsPair.open(both -> both.spin(Duration.ofHours(1)))) {
            busy = pollsWhileIdle(pair);
        }
        try (VerbsPair pair = VerbsPair.open(ParkedLoopTest::parking)) {
            // a handful of timers at most
            assertThat(pollsWhileIdle(pair))
                    .as("polls of engines that park, against %d of those that do not", busy)
                    .isLessThan(Math.max(50, busy / 20));
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 4})
    void everythingWakesAnEngineThatParks(int lanes) {
        try (VerbsPair pair =
                VerbsPair.open(both -> both.with(ParkedLoopTest::parking).lanes(lanes))) {
            MemoryRegion served = pair.served(4096);
            MemoryRegion local = pair.local(4096);
            RemoteRegion remote = pair.attach(served);
            List<byte[]> notifications = new CopyOnWriteArrayList<>();
            pair.accepted()
                    .subscribe(new NotificationListener() {
                        @Override
                        public void notification(byte[] payload) {
                            notifications.add(payload);
                        }

                        @Override
                        public void ended(@Nullable SluiceException error) {}
                    })
                    .request(Long.MAX_VALUE);
            for (int round = 1; round <= TestDevices.rounds(40); round++) {
                pause(round);
                pair.write(local, 64, remote, 64, 4000).awaitSuccess();
                pause(round);
                CompletableFuture<Long> reached = served.signal(8).awaitAtLeast(round);
                TransferEnd signal = new TransferEnd();
                pair.connection().signal(new RemoteSignal(remote, 8).weak(), DEFAULTS, signal);
                Patience.await(reached);
                signal.awaitSuccess();
                pause(round);
                pair.read(local, 0, remote, 0, 4096).awaitSuccess();
                pause(round);
                TransferEnd notified = new TransferEnd();
                pair.connection().notify(new byte[] {(byte) round}, DEFAULTS, notified);
                int expected = round;
                Patience.until("the notification comes", () -> notifications.size() == expected);
                notified.awaitSuccess();
                Patience.await(pair.connection().quiet());
            }
        }
    }

    /** Sometimes it parks before the next transfer, and sometimes it is just about to. */
    private static void pause(int round) {
        Patience.pause(Duration.ofNanos(50_000L * (round * 7 % 40)));
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 4})
    void notificationComesAfterTheWritesOfAllLanes(int lanes) {
        int slots = 64;
        int slotBytes = 8192;
        int rounds = TestDevices.rounds(50);
        try (VerbsPair pair = VerbsPair.open(both -> both.lanes(lanes))) {
            MemoryRegion served = pair.served((long) slots * slotBytes);
            MemoryRegion source = pair.local(served.length());
            RemoteRegion remote = pair.attach(served);
            AtomicInteger seen = new AtomicInteger();
            List<String> violations = new CopyOnWriteArrayList<>();
            pair.accepted()
                    .subscribe(new NotificationListener() {
                        @Override
                        public void notification(byte[] payload) {
                            for (int slot = 0; slot < slots; slot++) {
                                long last = (long) slot * slotBytes + slotBytes - 8;
                                long value = served.segment().get(ValueLayout.JAVA_LONG, last);
                                if (value != payload[0]) {
                                    violations.add(
                                            "slot " + slot + " holds " + value + " at notification " + payload[0]);
                                }
                            }
                            seen.incrementAndGet();
                        }

                        @Override
                        public void ended(@Nullable SluiceException error) {}
                    })
                    .request(Long.MAX_VALUE);
            for (int round = 1; round <= rounds; round++) {
                for (int slot = 0; slot < slots; slot++) {
                    long at = (long) slot * slotBytes;
                    source.segment().set(ValueLayout.JAVA_LONG, at + slotBytes - 8, round);
                    // of different length, so that the lanes do not go in step
                    long length = slot % 3 == 0 ? 8 : slotBytes;
                    pair.write(source, at + slotBytes - length, remote, at + slotBytes - length, length);
                }
                pair.connection().notify(new byte[] {(byte) round}, DEFAULTS, new TransferEnd());
                int expected = round;
                Patience.until("the notification comes", () -> seen.get() == expected);
            }
            assertThat(violations).isEmpty();
        }
    }

    @Test
    void quietMakesTheWritesOfAllLanesVisible() {
        int slots = 256;
        try (VerbsPair pair = VerbsPair.open(both -> both.lanes(4))) {
            MemoryRegion served = pair.served(64L * slots);
            RemoteRegion remote = pair.attach(served);
            for (int round = 1; round <= TestDevices.rounds(50); round++) {
                for (int slot = 0; slot < slots; slot++) {
                    pair.connection().put(remote, 64L * slot, round, 8, DEFAULTS, new TransferEnd());
                }
                Patience.await(pair.connection().quiet());
                for (int slot = 0; slot < slots; slot++) {
                    assertThat(served.segment().get(ValueLayout.JAVA_LONG, 64L * slot))
                            .isEqualTo(round);
                }
            }
        }
    }
}
