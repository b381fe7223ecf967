package io.sluice.engine.contract;

import static io.sluice.testkit.Patience.await;
import static io.sluice.testkit.Patience.until;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.sluice.engine.Connection;
import io.sluice.engine.FetchCallback;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteAccessException;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.Signal;
import io.sluice.engine.SluiceException;
import io.sluice.engine.Transfer;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.TransferTimeoutException;
import io.sluice.testkit.Patience;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Fetch-and-add and compare-and-swap on a peer's words: each is carried out once, and atomically. */
interface AtomicContract extends AtomicRefusalContract {
    @ParameterizedTest
    @EnumSource
    default void fetchAndAddGivesWhatTheWordHeld(Ends ends) {
        long[] addends = {0, 1, -1, 7, 1L << 40, Long.MAX_VALUE, 2, Long.MIN_VALUE, -1, Long.MIN_VALUE};
        try (EnginePair pair = ends.open(transport())) {
            MemoryRegion served = filled(pair.served(64), 1);
            RemoteRegion remote = pair.attach(served);
            for (long offset : new long[] {0, 8, 56}) {
                long expected = bytesOf(served).longAt(offset);
                for (long addend : addends) {
                    assertThat(pair.fetchAdd(remote, offset, addend).awaitPrevious())
                            .isEqualTo(expected);
                    expected += addend;
                    assertThat(bytesOf(served).longAt(offset)).isEqualTo(expected);
                }
            }
            BytePattern.assertFilled(bytesOf(served).slice(16, 40), 1, 16);
        }
    }

    @ParameterizedTest
    @EnumSource
    default void compareAndSwapReplacesWhatIsExpected(Ends ends) {
        long[] values = {0, 1, -1, Long.MAX_VALUE, Long.MIN_VALUE, 0x0102030405060708L, 1L << 31, 1L << 32};
        try (EnginePair pair = ends.open(transport())) {
            MemoryRegion served = pair.served(64);
            RemoteRegion remote = pair.attach(served);
            long held = 0;
            for (long value : values) {
                // no swap if only half of the word, or all but one bit, is as expected
                for (long wrong : new long[] {held ^ 1, held ^ (1L << 63), held ^ (1L << 32), ~held}) {
                    assertThat(pair.compareAndSwap(remote, 24, wrong, 99).awaitPrevious())
                            .isEqualTo(held);
                    assertThat(bytesOf(served).longAt(24)).isEqualTo(held);
                }
                assertThat(pair.compareAndSwap(remote, 24, held, value).awaitPrevious())
                        .isEqualTo(held);
                assertThat(bytesOf(served).longAt(24)).isEqualTo(value);
                held = value;
            }
            BytePattern.assertAll(bytesOf(served).slice(0, 24), (byte) 0, "before the word");
            BytePattern.assertAll(bytesOf(served).slice(32), (byte) 0, "behind the word");
        }
    }

    @Test
    default void callbackIsGivenItsTransferOnAPoller() {
        try (EnginePair pair = EnginePair.open(transport())) {
            RemoteRegion remote = pair.attach(pair.served(64));
            FetchOutcome outcome = new FetchOutcome();
            Transfer transfer = pair.connection().fetchAdd(remote, 0, 1, TransferOptions.defaults(), outcome);
            outcome.awaitPrevious();
            assertThat(outcome.terminal().transfer()).isSameAs(transfer);
            assertThat(TransferEngine.isPollerThread(outcome.terminal().thread()))
                    .isTrue();
            assertThat(transfer.connection()).isSameAs(pair.connection());
            assertThat(transfer.isTerminated()).isTrue();
            await(transfer.quiesced());
            transfer.cancel();
            until("nothing is pending", () -> pair.connection().pending() == 0);
            assertThat(outcome.terminal().count()).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @EnumSource
    default void fetchedValuesAreDistinctAndTheSumIsExact(Ends ends) {
        int connections = 4;
        int threads = 8;
        int each = ContractProfile.of(transport()).orderRounds();
        int total = threads * each;
        try (EnginePair pair = ends.open(transport(), both -> both.lanes(2).pollers(2))) {
            MemoryRegion served = pair.served(64);
            List<RemoteRegion> remotes = attachments(pair, served, connections);
            AtomicIntegerArray fetched = new AtomicIntegerArray(total);
            AtomicLong outside = new AtomicLong();
            ManyTransfers crowd = new ManyTransfers();
            ManyThreads.run(threads, number -> {
                RemoteRegion remote = remotes.get(number % connections);
                for (int i = 0; i < each; i++) {
                    FetchCallback ended = crowd.oneFetch();
                    remote.connection()
                            .fetchAdd(remote, 8, 1, TransferOptions.defaults(), (transfer, previous, error) -> {
                                if (error == null && previous >= 0 && previous < total) {
                                    fetched.incrementAndGet((int) previous);
                                } else if (error == null) {
                                    outside.incrementAndGet();
                                }
                                ended.terminated(transfer, previous, error);
                            });
                }
            });
            crowd.awaitAllSuccess();
            assertThat(served.signal(8).value()).isEqualTo(total);
            assertThat(outside).as("values that the word never had").hasValue(0);
            for (int value = 0; value < total; value++) {
                if (fetched.get(value) != 1) {
                    assertThat(fetched.get(value))
                            .as("how often %d was fetched", value)
                            .isEqualTo(1);
                }
            }
        }
    }

    /** Attaches one region over several connections. */
    private static List<RemoteRegion> attachments(EnginePair pair, MemoryRegion served, int connections) {
        List<RemoteRegion> remotes = new ArrayList<>();
        for (int i = 0; i < connections; i++) {
            Connection connection = await(pair.initiator().connect(pair.target().address()));
            remotes.add(await(connection.attach(served.descriptor())));
        }
        return remotes;
    }

    /** Increments a word by compare-and-swap, as often as it takes. */
    final class Incrementer implements FetchCallback {
        private final RemoteRegion remote;
        private final int times;
        private final ManyTransfers crowd;
        private long expected;
        private int done;

        Incrementer(RemoteRegion remote, int times, ManyTransfers crowd) {
            this.remote = remote;
            this.times = times;
            this.crowd = crowd;
        }

        void go() {
            crowd.enter();
            attempt();
        }

        private void attempt() {
            remote.connection().compareAndSwap(remote, 0, expected, expected + 1, TransferOptions.defaults(), this);
        }

        @Override
        public void terminated(Transfer transfer, long previous, @Nullable SluiceException error) {
            if (error == null && previous == expected) {
                done++;
            }
            expected = previous == expected ? expected + 1 : previous;
            if (error == null && done < times) {
                attempt();
            } else {
                crowd.leave(error);
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    default void compareAndSwapMakesACounter(Ends ends) {
        int connections = 4;
        int each = ContractProfile.of(transport()).orderRounds() / 2;
        try (EnginePair pair = ends.open(transport(), both -> both.pollers(2))) {
            MemoryRegion served = pair.served(64);
            ManyTransfers crowd = new ManyTransfers();
            for (RemoteRegion remote : attachments(pair, served, connections)) {
                new Incrementer(remote, each, crowd).go();
            }
            crowd.awaitAllSuccess();
            assertThat(served.signal(0).value()).isEqualTo((long) connections * each);
        }
    }

    /** A thread of the target's own code that changes a word without a pause until it is closed. */
    final class OwnCode implements AutoCloseable {
        private final Thread thread;
        private final AtomicLong rounds = new AtomicLong();
        private volatile boolean stopped;

        OwnCode(Runnable round) {
            thread = Thread.ofPlatform().daemon().start(() -> {
                while (!stopped) {
                    round.run();
                    rounds.incrementAndGet();
                }
            });
            until("it runs", () -> rounds.get() > 0);
        }

        long rounds() {
            return rounds.get();
        }

        @Override
        public void close() {
            stopped = true;
            until("it has stopped", () -> !thread.isAlive());
        }
    }

    @ParameterizedTest
    @EnumSource
    default void fetchAndAddLosesNoneOfTheTargetsOwnUpdates(Ends ends) {
        int count = ContractProfile.of(transport()).smallTransfers();
        try (EnginePair pair = ends.open(transport())) {
            MemoryRegion served = pair.served(64);
            RemoteRegion remote = pair.attach(served);
            Signal signal = served.signal(16);
            ManyTransfers crowd = new ManyTransfers();
            ContractBytes words = bytesOf(served);
            OwnCode byAtomics = new OwnCode(() -> words.getAndAdd(16, 1));
            try (byAtomics) {
                for (int i = 0; i < count; i++) {
                    pair.connection().fetchAdd(remote, 16, 1, TransferOptions.defaults(), crowd.oneFetch());
                }
                crowd.awaitAllSuccess();
            }
            assertThat(signal.value()).isEqualTo(count + byAtomics.rounds());
            long before = signal.value();
            OwnCode bySignal = new OwnCode(() -> signal.add(1));
            try (bySignal) {
                for (int i = 0; i < count; i++) {
                    pair.connection().fetchAdd(remote, 16, 1, TransferOptions.defaults(), crowd.oneFetch());
                }
                crowd.awaitAllSuccess();
            }
            assertThat(signal.value()).isEqualTo(before + count + bySignal.rounds());
        }
    }

    @ParameterizedTest
    @EnumSource
    default void compareAndSwapLosesNoneOfTheTargetsOwnUpdates(Ends ends) {
        int least = ContractProfile.of(transport()).smallTransfers();
        int most = 100 * least;
        int round = least / 20;
        try (EnginePair pair = ends.open(transport())) {
            MemoryRegion served = pair.served(64);
            RemoteRegion remote = pair.attach(served);
            ManyTransfers crowd = new ManyTransfers();
            AtomicLong swaps = new AtomicLong();
            ContractBytes words = bytesOf(served);
            // The word goes up and down all the time. A swap of zero for zero changes nothing, unless it is cut in two
            // and the word went up in between.
            OwnCode upAndDown = new OwnCode(() -> {
                words.getAndAdd(16, 1);
                words.getAndAdd(16, -1);
            });
            try (upAndDown) {
                // the word may stay up while its thread waits for a processor, through all the least number
                for (int done = 0; done < least || done < most && swaps.get() == 0; done += round) {
                    for (int i = 0; i < round; i++) {
                        FetchCallback ended = crowd.oneFetch();
                        pair.connection()
                                .compareAndSwap(
                                        remote, 16, 0, 0, TransferOptions.defaults(), (transfer, before, error) -> {
                                            if (error == null && before == 0) {
                                                swaps.incrementAndGet();
                                            }
                                            ended.terminated(transfer, before, error);
                                        });
                    }
                    crowd.awaitAllSuccess();
                }
            }
            assertThat(swaps).as("swaps that found zero").hasPositiveValue();
            assertThat(served.signal(16).value()).isZero();
        }
    }

    @Test
    default void operationsOnNeighbouringWordsDoNotMix() {
        int words = 64;
        int count = 4 * ContractProfile.of(transport()).orderRounds();
        Random random = ContractProfile.random("operationsOnNeighbouringWordsDoNotMix");
        try (EnginePair pair = EnginePair.open(transport(), both -> both.lanes(4))) {
            MemoryRegion served = pair.served(8L * words);
            RemoteRegion remote = pair.attach(served);
            long[] expected = new long[words];
            ManyTransfers crowd = new ManyTransfers();
            for (int i = 0; i < count; i++) {
                int word = random.nextInt(words);
                long addend = random.nextLong();
                expected[word] += addend;
                pair.connection().fetchAdd(remote, 8L * word, addend, TransferOptions.defaults(), crowd.oneFetch());
            }
            crowd.awaitAllSuccess();
            for (int word = 0; word < words; word++) {
                assertThat(served.signal(8L * word).value()).as("word %d", word).isEqualTo(expected[word]);
            }
        }
    }

    @Test
    default void regionClosesWhileAtomicsCome() {
        int count = 1_000;
        try (EnginePair pair = EnginePair.open(transport(), both -> both.windowOperations(16))) {
            for (int round = 0; round < 4; round++) {
                try (OwnMemory memory = ownMemory(64, 64)) {
                    MemoryRegion served = memory.register(pair.target(), RegionOptions.readWrite());
                    RemoteRegion remote = pair.attach(served);
                    List<FetchOutcome> outcomes = new ArrayList<>();
                    for (int i = 0; i < count; i++) {
                        outcomes.add(pair.fetchAdd(remote, 0, 1));
                    }
                    until("some have ended", () -> outcomes.get(20).terminal().ended());
                    await(served.close());
                    long last = memory.bytes().longAt(0);
                    FetchOutcome.awaitAll(outcomes);
                    long succeeded = 0;
                    for (FetchOutcome outcome : outcomes) {
                        if (outcome.await().isPresent()) {
                            outcome.awaitFailure(RemoteAccessException.class);
                        } else {
                            succeeded++;
                        }
                    }
                    assertThat(last).isEqualTo(succeeded);
                    Patience.pause(Duration.ofMillis(10));
                    assertThat(memory.bytes().longAt(0)).as("after the close").isEqualTo(last);
                }
            }
        }
    }

    @Test
    default void cancelledAtomicsTakeEffectOnceOrNot() {
        int count = 500;
        Random random = ContractProfile.random("cancelledAtomicsTakeEffectOnceOrNot");
        try (EnginePair pair = EnginePair.open(transport(), both -> both.windowOperations(4))) {
            MemoryRegion served = pair.served(8L * count);
            RemoteRegion remote = pair.attach(served);
            List<FetchOutcome> outcomes = new ArrayList<>();
            List<Transfer> transfers = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                FetchOutcome outcome = new FetchOutcome();
                outcomes.add(outcome);
                transfers.add(pair.connection().fetchAdd(remote, 8L * i, 1, TransferOptions.defaults(), outcome));
                if (random.nextInt(3) == 0) {
                    transfers.get(Math.max(0, i - random.nextInt(6))).cancel();
                }
            }
            TerminalSignal.awaitAllOnce(
                    outcomes.stream().map(FetchOutcome::terminal).toList());
            await(pair.connection().quiesced());
            for (int i = 0; i < count; i++) {
                long value = served.signal(8L * i).value();
                if (outcomes.get(i).await().isEmpty()) {
                    assertThat(value).isEqualTo(1);
                    assertThat(outcomes.get(i).previous()).isZero();
                } else {
                    assertThat(value).isBetween(0L, 1L);
                }
            }
            until("the credits are back", () -> pair.connection().window().operations() == 0);
        }
    }

    @Test
    default void atomicThatTimesOutKeepsItsCreditUntilItIsDone() {
        try (EnginePair pair = EnginePair.open(transport(), both -> both.windowOperations(4))) {
            MemoryRegion served = pair.servedByTheTarget(64);
            RemoteRegion remote = pair.attach(served);
            FetchOutcome outcome = new FetchOutcome();
            Transfer transfer;
            try (Blockade blockade = Blockade.ofTarget(pair)) {
                transfer = pair.connection()
                        .fetchAdd(
                                remote, 0, 1, TransferOptions.defaults().withDeadline(Duration.ofMillis(100)), outcome);
                outcome.awaitFailure(TransferTimeoutException.class);
                assertThat(outcome.previous()).isZero();
                assertThat(pair.connection().window().operations()).isEqualTo(1);
                assertThat(transfer.quiesced()).isNotDone();
            }
            await(transfer.quiesced());
            until("the credit is back", () -> pair.connection().window().operations() == 0);
            assertThat(served.signal(0).value()).isBetween(0L, 1L);
            assertThat(outcome.terminal().count()).isEqualTo(1);
        }
    }

    @Test
    default void atomicsHoldTheWindow() {
        int each = 300;
        try (EnginePair pair = EnginePair.open(transport(), both -> both.windowOperations(1))) {
            RemoteRegion remote = pair.attach(pair.served(64));
            ManyTransfers crowd = new ManyTransfers();
            ManyThreads.run(4, number -> {
                for (int i = 0; i < each; i++) {
                    pair.connection().fetchAdd(remote, 0, 1, TransferOptions.defaults(), crowd.oneFetch());
                }
            });
            crowd.awaitAllSuccess();
            assertThat(pair.connection().window().maxOperationsSeen()).isEqualTo(1);
            until(
                    "the credits are back",
                    () -> pair.connection().window().operations() == 0
                            && pair.connection().window().bytes() == 0);
        }
    }

    @Test
    @Tag(DRIVER)
    @Tag(PROCESS)
    default void bothSidesAndAnotherProcessAddToOneWord() {
        assumeTrue(transport().crossesProcesses(), ONE_PROCESS);
        int each = 2 * ContractProfile.of(transport()).transfersInFlight();
        try (PeerProcess peer = PeerProcess.start(transport(), 64);
                TransferEngine engine =
                        TransferEngine.open(transport().options().build())) {
            Connection connection = await(engine.connect(peer.address()));
            MemoryRegion served = allocate(engine, 64, RegionOptions.readWrite());
            peer.send("add-to-peer "
                    + HexFormat.of().formatHex(served.descriptor().toBytes()) + " 8 1 " + each);
            // also over a connection to itself, while the peer adds
            Connection self = await(engine.connect(engine.address()));
            RemoteRegion own = await(self.attach(served.descriptor()));
            ManyTransfers crowd = new ManyTransfers();
            for (int i = 0; i < each; i++) {
                self.fetchAdd(own, 8, 1, TransferOptions.defaults(), crowd.oneFetch());
                served.signal(8).add(1);
            }
            crowd.awaitAllSuccess();
            assertThat(peer.nextAnswer("add-to-peer")).startsWith("OK");
            assertThat(served.signal(8).value()).isEqualTo(3L * each);
            RemoteRegion theirs = await(connection.attach(peer.region(0)));
            FetchOutcome outcome = new FetchOutcome();
            connection.compareAndSwap(theirs, 0, 0, -7, TransferOptions.defaults(), outcome);
            assertThat(outcome.awaitPrevious()).isZero();
            assertThat(peer.command("signal 0 0")).isEqualTo("-7");
        }
    }
}
