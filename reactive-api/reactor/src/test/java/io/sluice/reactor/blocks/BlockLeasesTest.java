package io.sluice.reactor.blocks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.engine.ConnectionLostException;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.TooManyPendingException;
import io.sluice.reactor.ReactiveConnection;
import io.sluice.reactor.ReactiveTransferEngine;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedTransferQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Flux;

class BlockLeasesTest {
    private static final Duration PATIENCE = Patience.BOUND;
    private static final int MAX = 4;
    private static final int TURNS = "soak".equals(System.getProperty("sluice.test.profile")) ? 5_000 : 500;

    private final ReactiveTransferEngine there =
            ReactiveTransferEngine.open(PatientOptions.builder().build());
    private final ReactiveTransferEngine here =
            ReactiveTransferEngine.open(PatientOptions.builder().build());
    // to add to them takes no lock: BlockHound ends the subscription of a listener that waits for one on a poller
    private final BlockingQueue<ReceivedBlock> received = new LinkedTransferQueue<>();
    private final BlockingQueue<byte[]> others = new LinkedTransferQueue<>();
    private ReactiveConnection connection;
    private ReactiveConnection accepted;
    private BlockLeases lender;
    private BlockLeases receiver;

    @BeforeEach
    void connect() {
        CompletableFuture<ReactiveConnection> incoming = there.accepted().next().toFuture();
        connection = here.connect(there.address()).block(PATIENCE);
        accepted = Patience.await(incoming);
        lender = BlockLeases.over(connection, MAX);
        receiver = BlockLeases.over(accepted, MAX, others::add);
    }

    @AfterEach
    void close() {
        here.close().block(PATIENCE);
        there.close().block(PATIENCE);
    }

    private void listen() {
        receiver.received().subscribe(received::add, error -> {});
    }

    private ReceivedBlock next() {
        return Patience.take("a block", received);
    }

    private void awaitNoneIsLent() {
        Patience.until("none is lent", () -> lender.lent() == 0);
    }

    private void awaitNoneIsHeld() {
        Patience.until("none is held", () -> receiver.held() == 0);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    @Test
    void aBlockIsLentUntilItIsAcknowledged() {
        listen();
        CompletableFuture<LeaseOutcome> outcome = lender.lend(bytes("page 7")).toFuture();
        ReceivedBlock block = next();
        assertThat(block.description()).isEqualTo(bytes("page 7"));
        assertThat(outcome).isNotDone();
        assertThat(lender.lent()).isEqualTo(1);
        assertThat(receiver.held()).isEqualTo(1);
        block.acknowledge().block(PATIENCE);
        assertThat(outcome).succeedsWithin(PATIENCE).isEqualTo(LeaseOutcome.ACKNOWLEDGED);
        awaitNoneIsLent();
        awaitNoneIsHeld();
        block.release().block(PATIENCE);
        assertThat(lender.lent()).isZero();
    }

    @Test
    void aBlockCanBeReleased() {
        listen();
        CompletableFuture<LeaseOutcome> outcome = lender.lend(bytes("page")).toFuture();
        next().release().block(PATIENCE);
        assertThat(outcome).succeedsWithin(PATIENCE).isEqualTo(LeaseOutcome.RELEASED);
    }

    @Test
    void nothingIsLentBeforeASubscription() {
        lender.lend(bytes("page"));
        assertThat(lender.lent()).isZero();
    }

    /** One page, written again and again, each time with another number: the receiver never sees one but its own. */
    @Test
    void aPageIsReusedOnlyWhenItIsGivenBack() {
        listen();
        MemoryRegion page = there.allocate(64 << 10, RegionOptions.readWrite());
        MemoryRegion source = here.allocate(64 << 10, RegionOptions.local());
        RemoteRegion remote = connection.attach(page.descriptor()).block(PATIENCE);
        for (int round = 1; round <= 200; round++) {
            source.segment().fill((byte) round);
            byte[] number = ByteBuffer.allocate(4).putInt(round).array();
            CompletableFuture<LeaseOutcome> outcome = connection
                    .write(source, remote, 0)
                    .then(lender.lend(number))
                    .toFuture();
            ReceivedBlock block = next();
            int said = ByteBuffer.wrap(block.description()).getInt();
            for (long at = 0; at < page.length(); at += 1_000) {
                assertThat(page.segment().get(ValueLayout.JAVA_BYTE, at)).isEqualTo((byte) said);
            }
            block.acknowledge().block(PATIENCE);
            assertThat(outcome).succeedsWithin(PATIENCE).isEqualTo(LeaseOutcome.ACKNOWLEDGED);
        }
    }

    @Test
    void noMoreAreLentThanMayBe() {
        listen();
        for (int i = 0; i < MAX; i++) {
            lender.lend(bytes("page " + i)).subscribe();
        }
        assertThatThrownBy(() -> lender.lend(bytes("one more")).block(PATIENCE))
                .isInstanceOf(TooManyPendingException.class);
        next().acknowledge().block(PATIENCE);
        Patience.until("one is given back", () -> lender.lent() == MAX - 1);
        lender.lend(bytes("one more")).subscribe();
        assertThat(lender.lent()).isEqualTo(MAX);
    }

    @Test
    void whatALenderSendsBeyondTheBoundIsGivenBackUnused() {
        BlockLeases generous = lenderWithoutBound();
        for (int i = 0; i < MAX; i++) {
            generous.lend(bytes("page " + i)).subscribe();
        }
        assertThat(generous.lend(bytes("too many")).block(PATIENCE)).isEqualTo(LeaseOutcome.RELEASED);
        assertThat(receiver.held()).isEqualTo(MAX);
    }

    private BlockLeases lenderWithoutBound() {
        CompletableFuture<ReactiveConnection> incoming =
                there.accepted().skip(1).next().toFuture();
        ReactiveConnection another = here.connect(there.address()).block(PATIENCE);
        receiver = BlockLeases.over(Patience.await(incoming), MAX);
        return BlockLeases.over(another, 1_000);
    }

    @Test
    void aCancelDoesNotCallABlockBack() {
        listen();
        lender.lend(bytes("page")).subscribe().dispose();
        ReceivedBlock block = next();
        assertThat(lender.lent()).isEqualTo(1);
        block.acknowledge().block(PATIENCE);
        awaitNoneIsLent();
    }

    @Test
    void theEndOfTheConnectionEndsAllLeases() {
        listen();
        List<CompletableFuture<LeaseOutcome>> outcomes = List.of(
                lender.lend(bytes("a")).toFuture(), lender.lend(bytes("b")).toFuture());
        next();
        accepted.close().block(PATIENCE);
        for (CompletableFuture<LeaseOutcome> outcome : outcomes) {
            assertThat(outcome)
                    .failsWithin(PATIENCE)
                    .withThrowableThat()
                    .withCauseInstanceOf(ConnectionLostException.class);
        }
        awaitNoneIsLent();
        assertThatThrownBy(() -> lender.lend(bytes("c")).block(PATIENCE)).isInstanceOf(ConnectionLostException.class);
        awaitNoneIsLent();
    }

    @Test
    void otherNotificationsGoToTheirListener() {
        connection.notify(bytes("hello")).block(PATIENCE);
        assertThat(Patience.take("another notification", others)).isEqualTo(bytes("hello"));
        // A malformed message does not pass for a lease.
        byte[] hostile = LeaseMessage.of(LeaseMessage.Type.RELEASE, 1).toBytes();
        hostile[5] = 9;
        connection.notify(hostile).block(PATIENCE);
        assertThat(Patience.take("another notification", others)).isEqualTo(hostile);
        connection
                .notify(LeaseMessage.of(LeaseMessage.Type.ACKNOWLEDGE, 99).toBytes())
                .block(PATIENCE);
        listen();
        CompletableFuture<LeaseOutcome> outcome = lender.lend(bytes("page")).toFuture();
        next().acknowledge().block(PATIENCE);
        assertThat(outcome).succeedsWithin(PATIENCE).isEqualTo(LeaseOutcome.ACKNOWLEDGED);
    }

    /**
     * As many are always lent as may be, and the next one is lent at the moment that one comes back: it may come before the
     * receiver has heard that its own message has gone.
     */
    @ParameterizedTest
    @ValueSource(strings = {"tcp", "shm"})
    void aReceiverThatIsFullKeepsWhatWasLentInTurn(String transport) {
        EngineOptions options =
                PatientOptions.builder().transports(List.of(transport)).build();
        ReactiveTransferEngine lending = ReactiveTransferEngine.open(options);
        ReactiveTransferEngine receiving = ReactiveTransferEngine.open(options);
        try {
            CompletableFuture<ReactiveConnection> incoming =
                    receiving.accepted().next().toFuture();
            BlockLeases lender =
                    BlockLeases.over(lending.connect(receiving.address()).block(PATIENCE), MAX);
            BlockLeases receiver = BlockLeases.over(Patience.await(incoming), MAX);
            receiver.received().flatMap(ReceivedBlock::acknowledge, MAX).subscribe(ignored -> {}, error -> {});
            List<LeaseOutcome> outcomes = Flux.range(0, MAX)
                    .flatMap(
                            slot -> Flux.range(0, TURNS).concatMap(round -> lender.lend(bytes("page " + slot)), 1), MAX)
                    .collectList()
                    .block(PATIENCE);
            assertThat(outcomes).hasSize(MAX * TURNS).containsOnly(LeaseOutcome.ACKNOWLEDGED);
            Patience.until("none is held", () -> receiver.held() == 0);
        } finally {
            lending.close().block(PATIENCE);
            receiving.close().block(PATIENCE);
        }
    }

    /** The lender has credits for one message that gives a block back; the others are under way for as long as the test. */
    @Test
    void aBlockThatIsOnItsWayBackMakesRoom() {
        EngineOptions oneCredit =
                PatientOptions.builder().notificationCredits(1).build();
        ReactiveTransferEngine lending = ReactiveTransferEngine.open(oneCredit);
        try {
            CompletableFuture<ReactiveConnection> incoming =
                    there.accepted().skip(1).next().toFuture();
            ReactiveConnection raw = lending.connect(there.address()).block(PATIENCE);
            BlockLeases full = BlockLeases.over(Patience.await(incoming), MAX);
            full.received().subscribe(received::add, error -> {});
            lendRaw(raw, 0);
            Patience.until("all have come", () -> received.size() == MAX);
            assertThat(full.held()).isEqualTo(MAX);
            received.forEach(block -> block.acknowledge().subscribe(ignored -> {}, error -> {}));
            lendRaw(raw, MAX);
            Patience.until("all have come", () -> received.size() == 2 * MAX);
            assertThat(full.held()).isEqualTo(MAX);
        } finally {
            lending.close().block(PATIENCE);
        }
    }

    private static void lendRaw(ReactiveConnection connection, int firstId) {
        for (int id = firstId; id < firstId + MAX; id++) {
            connection
                    .notify(LeaseMessage.of(LeaseMessage.Type.LEND, id).toBytes())
                    .block(PATIENCE);
        }
    }

    @Test
    void whatNobodyTakesIsGivenBackUnused() {
        List<CompletableFuture<LeaseOutcome>> before = List.of(
                lender.lend(bytes("a")).toFuture(),
                lender.lend(bytes("b")).toFuture(),
                lender.lend(bytes("c")).toFuture());
        Patience.until("all are held", () -> receiver.held() == 3);
        receiver.received().take(1).subscribe(received::add);
        for (CompletableFuture<LeaseOutcome> outcome : before.subList(1, 3)) {
            assertThat(outcome).succeedsWithin(PATIENCE).isEqualTo(LeaseOutcome.RELEASED);
        }
        assertThat(lender.lend(bytes("after the cancel")).block(PATIENCE)).isEqualTo(LeaseOutcome.RELEASED);
        assertThat(before.getFirst()).isNotDone();
        next().acknowledge().block(PATIENCE);
        assertThat(before.getFirst()).succeedsWithin(PATIENCE).isEqualTo(LeaseOutcome.ACKNOWLEDGED);
        awaitNoneIsHeld();
    }

    @Test
    void aBlockOfALostConnectionCannotBeGivenBack() {
        listen();
        lender.lend(bytes("given back")).subscribe(ignored -> {}, error -> {});
        lender.lend(bytes("kept")).subscribe(ignored -> {}, error -> {});
        ReceivedBlock givenBack = next();
        ReceivedBlock kept = next();
        givenBack.acknowledge().block(PATIENCE);
        connection.close().block(PATIENCE);
        awaitNoneIsHeld();
        assertThatThrownBy(() -> kept.acknowledge().block(PATIENCE)).isInstanceOf(ConnectionLostException.class);
        receiver.close();
        assertThatThrownBy(() -> kept.acknowledge().block(PATIENCE)).isInstanceOf(ConnectionLostException.class);
        givenBack.acknowledge().block(PATIENCE);
    }

    /** The closing thread finds the poller handing over a block, and cannot signal the subscriber itself. */
    @Test
    void theBlocksEndAlsoWhenTheSubscriberIsBusy() {
        CompletableFuture<Void> busy = new CompletableFuture<>();
        AtomicBoolean closed = new AtomicBoolean();
        CompletableFuture<Void> ended = new CompletableFuture<>();
        long until = System.nanoTime() + PATIENCE.toNanos();
        receiver.received()
                .subscribe(
                        block -> {
                            busy.complete(null);
                            // No hint to the processor: BlockHound, where another test has installed it, takes that for
                            // blocking.
                            boolean done = false;
                            while (!done && System.nanoTime() < until) {
                                done = closed.get();
                            }
                        },
                        ended::completeExceptionally,
                        () -> ended.complete(null));
        lender.lend(bytes("page")).subscribe(ignored -> {}, error -> {});
        Patience.await(busy);
        receiver.close();
        closed.set(true);
        Patience.await(ended);
    }
}
