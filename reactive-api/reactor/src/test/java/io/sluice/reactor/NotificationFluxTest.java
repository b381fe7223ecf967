package io.sluice.reactor;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.ConnectionLostException;
import io.sluice.engine.SluiceException;
import io.sluice.testkit.Patience;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import reactor.core.Scannable;
import reactor.core.publisher.Flux;
import reactor.test.StepVerifier;
import reactor.test.util.RaceTestUtils;

class NotificationFluxTest {
    private static final Duration LIMIT = Patience.BOUND;

    private final FakeConnection connection = FakeConnection.manual();
    private final FakeNotifications peer = connection.notifications;
    private final Flux<byte[]> notifications =
            ReactiveConnection.from(connection).notifications();

    private static byte[] message(int number) {
        return new byte[] {(byte) number};
    }

    private static List<Integer> numbers(Iterable<byte[]> messages) {
        List<Integer> numbers = new ArrayList<>();
        messages.forEach(message -> numbers.add((int) message[0]));
        return numbers;
    }

    @Test
    void notificationsComeInOrderThoseFromBeforeFirst() {
        peer.send(message(1));
        StepVerifier.create(notifications.map(message -> message[0]))
                .expectNext((byte) 1)
                .then(() -> peer.send(message(2)))
                .expectNext((byte) 2)
                .then(() -> peer.end(null))
                .expectComplete()
                .verify(LIMIT);
    }

    @Test
    void aLostPeerIsAnError() {
        SluiceException lost = new ConnectionLostException("lost");
        StepVerifier.create(notifications)
                .then(() -> peer.end(lost))
                .expectErrorSatisfies(error -> assertThat(error).isSameAs(lost))
                .verify(LIMIT);
    }

    @Test
    void anEndThatWasBeforeTheSubscriptionIsSignalled() {
        peer.end(null);
        StepVerifier.create(notifications).expectComplete().verify(LIMIT);
    }

    @Test
    void whatIsNotAskedForStaysWithTheConnection() {
        RecordingSubscriber<byte[]> subscriber = new RecordingSubscriber<>();
        for (int i = 0; i < 10; i++) {
            peer.send(message(i));
        }
        notifications.subscribe(subscriber);
        assertThat(subscriber.items).isEmpty();
        assertThat(peer.kept()).isEqualTo(10);
        subscriber.subscription.request(3);
        assertThat(numbers(subscriber.items)).containsExactly(0, 1, 2);
        assertThat(peer.kept()).isEqualTo(7);
        subscriber.subscription.request(Long.MAX_VALUE);
        assertThat(subscriber.items).hasSize(10);
        assertThat(peer.mostAsked()).isLessThanOrEqualTo(32);
    }

    @Test
    void aSecondSubscriberIsRefusedWhileTheFirstIsThere() {
        RecordingSubscriber<byte[]> first = new RecordingSubscriber<>();
        notifications.subscribe(first);
        StepVerifier.create(notifications)
                .expectError(IllegalStateException.class)
                .verify(LIMIT);
        first.subscription.request(1);
        peer.send(message(1));
        assertThat(first.items).hasSize(1);
    }

    @Test
    void theNextSubscriberGoesOnWhereTheLastOneStopped() {
        for (int i = 0; i < 6; i++) {
            peer.send(message(i));
        }
        assertThat(numbers(notifications.take(2).collectList().block(LIMIT))).containsExactly(0, 1);
        assertThat(peer.hasListener()).isFalse();
        assertThat(numbers(notifications.take(4).collectList().block(LIMIT))).containsExactly(2, 3, 4, 5);
    }

    @Test
    void aCancelBeforeAnyDemandGivesTheConnectionFree() {
        RecordingSubscriber<byte[]> subscriber = new RecordingSubscriber<>();
        notifications.subscribe(subscriber);
        assertThat(peer.hasListener()).isTrue();
        subscriber.subscription.cancel();
        assertThat(peer.hasListener()).isFalse();
        peer.end(null);
        assertThat(subscriber.terminals()).isZero();
    }

    @Test
    void aCancelWhileTheConnectionIsSubscribedGivesItFree() {
        RecordingSubscriber<byte[]> subscriber = new RecordingSubscriber<>();
        peer.meanwhile = () -> subscriber.subscription.cancel();
        notifications.subscribe(subscriber);
        assertThat(peer.hasListener()).isFalse();
    }

    @Test
    void aCancelInsideOnSubscribeNeverTakesTheConnection() {
        notifications.take(0).blockLast(LIMIT);
        assertThat(peer.hasListener()).isFalse();
    }

    @Test
    void aRequestThatIsNotPositiveIsAnError() {
        RecordingSubscriber<byte[]> subscriber = new RecordingSubscriber<>();
        notifications.subscribe(subscriber);
        subscriber.subscription.request(-1);
        assertThat(subscriber.errors).singleElement().isInstanceOf(IllegalArgumentException.class);
        assertThat(peer.hasListener()).isFalse();
    }

    @Test
    void itCanBeScanned() {
        assertThat(Scannable.from(notifications).stepName()).isEqualTo("notifications");
        assertThat(Scannable.from(notifications).scan(Scannable.Attr.RUN_STYLE))
                .isEqualTo(Scannable.Attr.RunStyle.ASYNC);
    }

    @Test
    void messagesAgainstCancelLoseNothingThatWasNotAskedFor() {
        for (int round = 0; round < 2_000; round++) {
            FakeConnection racing = FakeConnection.manual();
            FakeNotifications sender = racing.notifications;
            RecordingSubscriber<byte[]> subscriber = new RecordingSubscriber<>();
            ReactiveConnection.from(racing).notifications().subscribe(subscriber);
            subscriber.subscription.request(2);
            sender.send(message(0));
            RaceTestUtils.race(
                    () -> {
                        sender.send(message(1));
                        sender.send(message(2));
                        sender.end(null);
                    },
                    subscriber.subscription::cancel);
            assertThat(subscriber.breaches).isEmpty();
            assertThat(subscriber.items).hasSizeBetween(1, 2);
            assertThat(sender.kept()).isGreaterThanOrEqualTo(1);
        }
    }
}
