package io.sluice.engine.transport.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.AtomicDomain;
import io.sluice.engine.Connection;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.OutcomeUnknownException;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteAccessException;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.RemoteSignal;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferOptions;
import io.sluice.testkit.Patience;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Words that the target's adapter changes, and not its processors. */
@Tag("verbs")
@Tag("softroce")
class AdapterAtomicsTest {
    private static final TransferOptions DEFAULTS = TransferOptions.defaults();
    private static final RegionOptions ADAPTER = RegionOptions.readWrite().atomics(AtomicDomain.NETWORK_ADAPTER);

    private static VerbsPair open(int lanes, int rails) {
        return rails == 1 ? VerbsPair.open(both -> both.lanes(lanes)) : VerbsPair.openRails(both -> both.lanes(lanes));
    }

    private static TransferEnd fetchAdd(Connection connection, RemoteRegion remote, long offset, long addend) {
        TransferEnd end = new TransferEnd();
        connection.fetchAdd(remote, offset, addend, DEFAULTS, end);
        return end;
    }

    private static TransferEnd compareAndSwap(
            Connection connection, RemoteRegion remote, long offset, long expected, long replacement) {
        TransferEnd end = new TransferEnd();
        connection.compareAndSwap(remote, offset, expected, replacement, DEFAULTS, end);
        return end;
    }

    private static TransferEnd signal(Connection connection, RemoteRegion remote, long offset) {
        TransferEnd end = new TransferEnd();
        connection.signal(new RemoteSignal(remote, offset).weak(), DEFAULTS, end);
        return end;
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void eachOperationDoesWhatItSays(int rails) {
        try (VerbsPair pair = open(4, rails)) {
            MemoryRegion region = pair.target().allocate(4096, ADAPTER);
            RemoteRegion remote = pair.attach(region);
            Connection connection = pair.connection();
            assertThat(fetchAdd(connection, remote, 8, 5).awaitFetched()).isZero();
            assertThat(fetchAdd(connection, remote, 8, -7).awaitFetched()).isEqualTo(5);
            assertThat(fetchAdd(connection, remote, 8, Long.MIN_VALUE).awaitFetched())
                    .isEqualTo(-2);
            assertThat(compareAndSwap(connection, remote, 16, 1, 2).awaitFetched())
                    .isZero();
            assertThat(region.signal(16).value()).isZero();
            assertThat(compareAndSwap(connection, remote, 16, 0, 0x1122_3344_5566_7788L)
                            .awaitFetched())
                    .isZero();
            assertThat(region.signal(16).value()).isEqualTo(0x1122_3344_5566_7788L);
            assertThat(region.signal(8).value()).isEqualTo(Long.MIN_VALUE - 2);
        }
    }

    @Test
    void signalsWakeWhoWaits() {
        try (VerbsPair pair = open(1, 1)) {
            MemoryRegion region = pair.target().allocate(4096, ADAPTER);
            MemoryRegion source = pair.local(64);
            source.segment().fill((byte) 9);
            RemoteRegion remote = pair.attach(region);
            for (int round = 0; round < TestDevices.rounds(50); round++) {
                CompletableFuture<Long> reached = region.signal(8).awaitAtLeast(2L * round + 1);
                assertThat(reached).isNotDone();
                signal(pair.connection(), remote, 8).awaitSuccess();
                assertThat(Patience.await(reached)).isEqualTo(2L * round + 1);
                reached = region.signal(8).awaitAtLeast(2L * round + 2);
                pair.writeWithSignal(source, 0, remote, 64, 64, remote, 8).awaitSuccess();
                Patience.await(reached);
                assertThat(region.segment().get(ValueLayout.JAVA_BYTE, 127)).isEqualTo((byte) 9);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void severalConnectionsAddToOneWordAtOnce(int rails) {
        int times = TestDevices.rounds(500);
        try (VerbsPair pair = open(2, rails)) {
            MemoryRegion region = pair.target().allocate(4096, ADAPTER);
            List<Connection> connections = new ArrayList<>(List.of(pair.connection()));
            for (int i = 0; i < 3; i++) {
                connections.add(
                        Patience.await(pair.initiator().connect(pair.target().address())));
            }
            List<TransferEnd> adds = new ArrayList<>();
            List<TransferEnd> signals = new ArrayList<>();
            for (Connection each : connections) {
                RemoteRegion remote = Patience.await(each.attach(region.descriptor()));
                for (int i = 0; i < times; i++) {
                    adds.add(fetchAdd(each, remote, 8, 1));
                    signals.add(signal(each, remote, 16));
                }
            }
            // each value is fetched once
            assertThat(adds.stream().map(TransferEnd::awaitFetched)).doesNotHaveDuplicates();
            signals.forEach(TransferEnd::awaitSuccess);
            assertThat(region.signal(8).value()).isEqualTo(adds.size());
            assertThat(region.signal(16).value()).isEqualTo(signals.size());
        }
    }

    @Test
    void regionsOfBothDomainsStandSideBySide() {
        int times = TestDevices.rounds(300);
        try (VerbsPair pair = open(3, 1)) {
            MemoryRegion byAdapter = pair.target().allocate(4096, ADAPTER);
            MemoryRegion byProcessor = pair.served(4096);
            RemoteRegion remoteByAdapter = pair.attach(byAdapter);
            RemoteRegion remoteByProcessor = pair.attach(byProcessor);
            MemoryRegion source = pair.local(64);
            List<TransferEnd> ends = new ArrayList<>();
            for (int i = 0; i < times; i++) {
                ends.add(fetchAdd(pair.connection(), remoteByAdapter, 8, 1));
                ends.add(fetchAdd(pair.connection(), remoteByProcessor, 8, 1));
                // the bytes go to the one, the signal to the other
                ends.add(pair.writeWithSignal(source, 0, remoteByAdapter, 64, 64, remoteByProcessor, 16));
                ends.add(pair.writeWithSignal(source, 0, remoteByProcessor, 64, 64, remoteByAdapter, 16));
            }
            ends.forEach(TransferEnd::awaitSuccess);
            for (MemoryRegion region : new MemoryRegion[] {byAdapter, byProcessor}) {
                Patience.until(
                        "all are counted",
                        () -> region.signal(8).value() >= times
                                && region.signal(16).value() >= times);
                assertThat(region.signal(8).value()).isEqualTo(times);
                assertThat(region.signal(16).value()).isEqualTo(times);
            }
        }
    }

    @Test
    void operationsWithABadKeyAreRefusedAndHarmless() {
        try (VerbsPair pair = open(1, 1)) {
            MemoryRegion region = pair.target().allocate(4096, ADAPTER);
            RemoteRegion remote = pair.attach(region);
            RemoteRegion forged = ForgedKeys.withBadKey(remote);
            for (int i = 0; i < 5; i++) {
                fetchAdd(pair.connection(), forged, 8, 1).awaitFailure(RemoteAccessException.class);
                signal(pair.connection(), forged, 8).awaitFailure(RemoteAccessException.class);
                compareAndSwap(pair.connection(), forged, 8, 0, 1).awaitFailure(RemoteAccessException.class);
                fetchAdd(pair.connection(), remote, 16, 1).awaitSuccess();
            }
            assertThat(region.signal(8).value()).isZero();
            assertThat(region.signal(16).value()).isEqualTo(5);
        }
    }

    @Test
    void signalOfAWriteThatIsRefusedIsNotCarriedOut() {
        try (VerbsPair pair = open(1, 1)) {
            MemoryRegion words = pair.target().allocate(64, ADAPTER);
            RemoteRegion remoteWords = pair.attach(words);
            MemoryRegion region = pair.served(64);
            RemoteRegion genuine = pair.attach(region);
            RemoteRegion forged = ForgedKeys.withBadKey(genuine);
            MemoryRegion source = pair.local(64);
            for (int i = 0; i < 5; i++) {
                pair.writeWithSignal(source, 0, forged, 0, 64, remoteWords, 8)
                        .awaitFailure(RemoteAccessException.class);
                pair.writeWithSignal(source, 0, genuine, 0, 64, remoteWords, 16).awaitSuccess();
            }
            assertThat(words.signal(8).value()).isZero();
            assertThat(words.signal(16).value()).isEqualTo(5);
        }
    }

    /** An adapter does not say whether it has carried out what it did not acknowledge. */
    @Test
    void whatWasUnderWayWhenAQueuePairBreaksIsCountedOnceAtMost() {
        SoftAdapter adapter = SoftAdapter.get();
        Random random = new Random(20_240_229L);
        int before = adapter.mark();
        int unknown = 0;
        try (VerbsPair pair = open(2, 1)) {
            MemoryRegion region = pair.target().allocate(4096, ADAPTER);
            RemoteRegion remote = pair.attach(region);
            MemoryRegion source = pair.local(64);
            long sure = 0;
            for (int round = 0; round < 50; round++) {
                List<TransferEnd> ends = new ArrayList<>();
                for (int i = 0; i < 200; i++) {
                    ends.add(
                            switch (i % 3) {
                                case 0 -> fetchAdd(pair.connection(), remote, 8, 1);
                                case 1 -> signal(pair.connection(), remote, 8);
                                default -> pair.writeWithSignal(source, 0, remote, 64, 64, remote, 8);
                            });
                    if (i == 100) {
                        adapter.breakOneOf(random, before);
                    }
                }
                for (TransferEnd end : ends) {
                    Optional<SluiceException> error = end.await();
                    if (error.isEmpty()) {
                        sure++;
                    } else {
                        assertThat(error.get()).isInstanceOf(OutcomeUnknownException.class);
                        unknown++;
                    }
                }
            }
            assertThat(region.signal(8).value()).isBetween(sure, sure + unknown);
            assertThat(sure).isPositive();
        }
    }
}
