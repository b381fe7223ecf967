package io.sluice.reactor;

import static io.sluice.reactor.VectoredTransferFluxTest.elements;
import static io.sluice.reactor.VectoredTransferFluxTest.transfers;
import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.ConnectionLostException;
import io.sluice.engine.ElementsFailedException;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TooManyPendingException;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.TransferResult;
import io.sluice.testkit.Patience;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Flux;
import reactor.test.StepVerifier;

/** Lists, whose elements go as few transfers of many elements. */
class ListedTransferFluxTest {
    private static final Duration LIMIT = Patience.BOUND;

    private static Flux<TransferResult> write(FakeConnection connection, int count) {
        return ElementSource.LIST.write(connection, elements(connection, count));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 7, 8, 15, 16, 17, 64, 499, 500, 501})
    void theWindowIsNeverExceededByAListNorLeftEmpty(int limit) {
        FakeConnection connection = FakeConnection.manual(limit);
        RecordingSubscriber<TransferResult> subscriber = new RecordingSubscriber<>();
        write(connection, 500).subscribe(subscriber);
        subscriber.subscription.request(Long.MAX_VALUE);
        int ended = 0;
        for (FakeTransfer transfer = connection.transfers.poll();
                transfer != null;
                transfer = connection.transfers.poll()) {
            // an eighth is waited for, so that what then goes can go together
            assertThat(connection.inFlight())
                    .isLessThanOrEqualTo(limit)
                    .isGreaterThan(Math.min(limit - Math.max(1, limit / 8), 499 - ended));
            transfer.succeed();
            ended++;
        }
        assertThat(subscriber.items).hasSize(500);
        assertThat(subscriber.completions).hasValue(1);
        assertThat(connection.mostInFlight()).isEqualTo(Math.min(limit, 500));
    }

    @Test
    void elementsOfAListAreOneTransferAndSoAreThoseThatFollowThem() {
        FakeConnection connection = FakeConnection.manual(16);
        RecordingSubscriber<TransferResult> subscriber = new RecordingSubscriber<>();
        write(connection, 21).subscribe(subscriber);
        subscriber.subscription.request(Long.MAX_VALUE);
        assertThat(runs(connection)).containsExactly(16);
        transfers(connection).getFirst().succeed();
        assertThat(runs(connection)).containsExactly(16);
        transfers(connection).subList(1, 4).forEach(FakeTransfer::succeed);
        assertThat(runs(connection)).containsExactly(16, 2, 2);
        transfers(connection).subList(4, 6).forEach(FakeTransfer::succeed);
        assertThat(connection.submitted()).isEqualTo(21);
        assertThat(runs(connection)).as("the last is alone, and a single write").containsExactly(16, 2, 2);
        transfers(connection).forEach(FakeTransfer::succeed);
        assertThat(subscriber.items)
                .extracting(TransferResult::element)
                .containsExactlyElementsOf(IntStream.range(0, 21).boxed().toList());
        assertThat(subscriber.items).extracting(TransferResult::bytes).endsWith(19L, 20L, 21L);
        assertThat(subscriber.completions).hasValue(1);
    }

    @Test
    void theRestOfAListThatFitsIsNotHeldBack() {
        FakeConnection connection = FakeConnection.manual(16);
        RecordingSubscriber<TransferResult> subscriber = new RecordingSubscriber<>();
        write(connection, 17).subscribe(subscriber);
        subscriber.subscription.request(Long.MAX_VALUE);
        assertThat(connection.submitted()).isEqualTo(16);
        transfers(connection).getFirst().succeed();
        assertThat(connection.submitted()).isEqualTo(17);
        transfers(connection).forEach(FakeTransfer::succeed);
        assertThat(subscriber.items).hasSize(17);
        assertThat(subscriber.completions).hasValue(1);
    }

    private static List<Integer> runs(FakeConnection connection) {
        return connection.vectoredTransfers.stream()
                .map(run -> run.elements().size())
                .toList();
    }

    @Test
    void aListGivesNoMoreThanTheDemand() {
        FakeConnection connection = FakeConnection.manual(64);
        RecordingSubscriber<TransferResult> subscriber = new RecordingSubscriber<>();
        write(connection, 100).subscribe(subscriber);
        assertThat(connection.submitted()).isZero();
        int demand = 0;
        for (int more : new int[] {1, 2, 5, 30, 1, 61}) {
            subscriber.subscription.request(more);
            demand += more;
            for (FakeTransfer transfer = connection.transfers.poll();
                    transfer != null;
                    transfer = connection.transfers.poll()) {
                transfer.succeed();
            }
            assertThat(subscriber.items).hasSize(demand);
            assertThat(connection.submitted()).isEqualTo(demand);
        }
        assertThat(subscriber.completions).hasValue(1);
        assertThat(subscriber.breaches).isEmpty();
    }

    @Test
    void whatIsRefusedAsOneTransferGoesElementByElement() {
        FakeConnection connection = FakeConnection.immediate();
        connection.vectoredRefusal = new TooManyPendingException("full");
        StepVerifier.create(write(connection, 5).map(TransferResult::element))
                .expectNext(0, 1, 2, 3, 4)
                .expectComplete()
                .verify(LIMIT);
        assertThat(connection.vectoredTransfers).isEmpty();
        assertThat(connection.submitted()).isEqualTo(5);
    }

    @Test
    void aMistakeInAListEndsTheFluxAndWhatIsInFlight() {
        AtomicInteger submissions = new AtomicInteger();
        FakeConnection connection = new FakeConnection(256, transfer -> {
            if (submissions.incrementAndGet() == 3) {
                throw new IndexOutOfBoundsException("outside");
            }
        });
        connection.vectoredRefusal = new IndexOutOfBoundsException("outside");
        StepVerifier.create(write(connection, 5))
                .expectError(IndexOutOfBoundsException.class)
                .verify(LIMIT);
        assertThat(connection.submitted()).as("nothing after the mistake").isEqualTo(3);
        assertThat(connection.inFlight()).isZero();
    }

    @Test
    void aCancelEndsTheTransfersOfAListOnceEach() {
        FakeConnection connection = FakeConnection.manual(16);
        RecordingSubscriber<TransferResult> subscriber = new RecordingSubscriber<>();
        write(connection, 40).subscribe(subscriber);
        subscriber.subscription.request(Long.MAX_VALUE);
        transfers(connection).subList(0, 6).forEach(FakeTransfer::succeed);
        subscriber.subscription.cancel();
        assertThat(connection.inFlight()).isZero();
        assertThat(connection.submitted()).isEqualTo(22);
        assertThat(connection.vectoredTransfers)
                .extracting(FakeVectoredTransfer::cancels)
                .containsExactly(1, 1, 1, 1);
        assertThat(subscriber.items).hasSize(6);
        assertThat(subscriber.terminals()).isZero();
    }

    @Test
    void anEndWithoutItsElementsGivesEachOfThemItsResult() {
        FakeConnection connection = FakeConnection.manual();
        RecordingSubscriber<TransferResult> subscriber = new RecordingSubscriber<>();
        write(connection, 3).subscribe(subscriber);
        subscriber.subscription.request(3);
        transfers(connection).get(1).succeed();
        SluiceException lost = new ConnectionLostException("lost");
        connection.vectoredTransfers.peek().endWithoutElements(lost);
        assertThat(subscriber.items)
                .containsExactly(
                        new TransferResult(1, 2, null), new TransferResult(0, 0, lost), new TransferResult(2, 0, lost));
        assertThat(subscriber.errors)
                .singleElement()
                .isInstanceOfSatisfying(
                        ElementsFailedException.class,
                        error -> assertThat(error.failed()).isEqualTo(2));
    }

    @Test
    void anEventIsCompletedByEachElementOfAList() {
        FakeConnection connection = FakeConnection.immediate();
        TransferOptions options = TransferOptions.defaults().completeInto(error -> {});
        StepVerifier.create(
                        ReactiveConnection.from(connection).withOptions(options).writeVectored(elements(connection, 3)))
                .expectNextCount(3)
                .expectComplete()
                .verify(LIMIT);
        assertThat(connection.vectoredTransfers).as("transfers of several").isEmpty();
        assertThat(connection.lastOptions).isEqualTo(options);
    }
}
