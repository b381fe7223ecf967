package io.sluice.engine.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.CapturedLog;
import io.sluice.engine.ConnectionLostException;
import io.sluice.engine.SluiceException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class NotificationInboxTest {
    private static final int CREDITS = 3;

    private int progress;
    private final NotificationInbox inbox = new NotificationInbox(CREDITS, () -> progress++);

    /** Notes what it hears. */
    private static class Recorder implements NotificationInbox.Taker {
        private final List<Integer> heard = new ArrayList<>();
        private final List<@Nullable SluiceException> ends = new ArrayList<>();
        private IntConsumer reaction = number -> {};
        private boolean active = true;

        @Override
        public boolean isActive() {
            return active;
        }

        @Override
        public void notification(byte[] payload) {
            heard.add((int) payload[0]);
            reaction.accept(payload[0]);
        }

        @Override
        public void ended(@Nullable SluiceException error) {
            ends.add(error);
        }
    }

    private final Recorder recorder = new Recorder();

    private boolean receive(int number) {
        return inbox.received(new byte[] {(byte) number});
    }

    @Test
    void nothingIsDeliveredBeforeItIsAskedFor() {
        inbox.listen(recorder);
        receive(1);
        receive(2);
        assertThat(recorder.heard).isEmpty();
        inbox.request(recorder, 1);
        assertThat(recorder.heard).containsExactly(1);
        inbox.request(recorder, 5);
        receive(3);
        assertThat(recorder.heard).containsExactly(1, 2, 3);
    }

    @Test
    void whatCameBeforeTheListenerIsKeptInItsOrder() {
        receive(1);
        receive(2);
        inbox.listen(recorder);
        inbox.request(recorder, Long.MAX_VALUE);
        receive(3);
        assertThat(recorder.heard).containsExactly(1, 2, 3);
    }

    @Test
    void noMoreThanTheCreditsAreTaken() {
        for (int i = 0; i < CREDITS; i++) {
            assertThat(receive(i)).isTrue();
        }
        assertThat(receive(9)).isFalse();
        assertThat(inbox.takeAcknowledged()).isEqualTo(CREDITS);
        assertThat(inbox.takeGranted()).as("no listener has taken one").isZero();
        inbox.listen(recorder);
        inbox.request(recorder, Long.MAX_VALUE);
        assertThat(recorder.heard).containsExactly(0, 1, 2);
    }

    @Test
    void creditComesBackWhenItWasGrantedAndNotBefore() {
        inbox.listen(recorder);
        inbox.request(recorder, 2);
        receive(1);
        receive(2);
        receive(3);
        assertThat(receive(4)).as("the peer has used all credits granted to it").isFalse();
        assertThat(inbox.takeGranted()).isEqualTo(2);
        assertThat(inbox.takeGranted()).isZero();
        assertThat(receive(4)).isTrue();
        assertThat(receive(5)).isTrue();
        assertThat(receive(6)).isFalse();
        assertThat(inbox.takeAcknowledged()).isEqualTo(5);
        assertThat(inbox.takeAcknowledged()).isZero();
    }

    @Test
    void progressIsToldOfEachThatComesAndEachThatIsTaken() {
        receive(1);
        assertThat(progress).isEqualTo(1);
        inbox.listen(recorder);
        inbox.request(recorder, 1);
        assertThat(progress).isEqualTo(2);
    }

    @Test
    void requestsAddUpWithoutOverflow() {
        inbox.listen(recorder);
        inbox.request(recorder, Long.MAX_VALUE - 1);
        inbox.request(recorder, Long.MAX_VALUE - 1);
        receive(1);
        receive(2);
        inbox.request(recorder, Long.MAX_VALUE);
        receive(3);
        assertThat(recorder.heard).containsExactly(1, 2, 3);
    }

    @Test
    void requestOfWhoIsNotTheListenerCountsNothing() {
        inbox.listen(recorder);
        inbox.request(new Recorder(), 5);
        receive(1);
        assertThat(recorder.heard).isEmpty();
    }

    @Test
    void whoLeavesHearsNoMoreAndTheNextGetsTheRest() {
        inbox.listen(recorder);
        inbox.request(recorder, Long.MAX_VALUE);
        receive(1);
        inbox.leave(recorder);
        receive(2);
        Recorder next = new Recorder();
        inbox.listen(next);
        assertThat(next.heard).as("demand is not inherited").isEmpty();
        inbox.leave(recorder);
        inbox.request(next, 5);
        assertThat(recorder.heard).containsExactly(1);
        assertThat(next.heard).containsExactly(2);
    }

    @Test
    void endComesAfterWhatWaits() {
        ConnectionLostException lost = new ConnectionLostException("lost");
        inbox.listen(recorder);
        receive(1);
        receive(2);
        inbox.end(lost);
        assertThat(recorder.ends).isEmpty();
        inbox.request(recorder, 1);
        assertThat(recorder.ends).isEmpty();
        inbox.request(recorder, 1);
        assertThat(recorder.heard).containsExactly(1, 2);
        assertThat(recorder.ends).containsExactly(lost);
        inbox.request(recorder, 1);
        inbox.end(null);
        assertThat(recorder.ends).hasSize(1);
    }

    @Test
    void endWithoutAnErrorAndWithoutDemand() {
        inbox.listen(recorder);
        inbox.end(null);
        assertThat(recorder.ends).hasSize(1).containsOnlyNulls();
    }

    @Test
    void whoComesAfterTheEndGetsTheRestAndTheEnd() {
        receive(1);
        inbox.end(null);
        inbox.listen(recorder);
        assertThat(recorder.ends).isEmpty();
        inbox.request(recorder, 1);
        assertThat(recorder.heard).containsExactly(1);
        assertThat(recorder.ends).hasSize(1);
    }

    @Test
    void listenerMayAskAndLeaveWithinItsCall() {
        recorder.reaction = number -> {
            if (number == 1) {
                inbox.request(recorder, 1);
            } else {
                inbox.leave(recorder);
            }
        };
        receive(1);
        receive(2);
        receive(3);
        inbox.listen(recorder);
        inbox.request(recorder, 1);
        assertThat(recorder.heard).containsExactly(1, 2);
    }

    /** The connection is found to be broken when a credit is to be given back. */
    @Test
    void endWithinADeliveryComesAfterItAndWhatWaits() {
        AtomicReference<Runnable> atNextProgress = new AtomicReference<>(() -> {});
        NotificationInbox ending = new NotificationInbox(
                CREDITS, () -> atNextProgress.getAndSet(() -> {}).run());
        List<String> order = new ArrayList<>();
        Recorder ordered = new Recorder() {
            @Override
            public void ended(@Nullable SluiceException error) {
                order.add("end");
            }
        };
        ordered.reaction = number -> order.add("notification " + number);
        for (int number = 1; number <= CREDITS; number++) {
            ending.received(new byte[] {(byte) number});
        }
        ending.listen(ordered);
        atNextProgress.set(() -> ending.end(null));
        ending.request(ordered, Long.MAX_VALUE);
        assertThat(order).containsExactly("notification 1", "notification 2", "notification 3", "end");
    }

    /** Its calls do not nest, however it asks. */
    @Test
    void listenerIsCalledForOneAfterTheOther() {
        AtomicInteger calls = new AtomicInteger();
        AtomicInteger deepest = new AtomicInteger();
        recorder.reaction = number -> {
            deepest.accumulateAndGet(calls.incrementAndGet(), Math::max);
            inbox.request(recorder, 1);
            calls.decrementAndGet();
        };
        receive(1);
        receive(2);
        receive(3);
        inbox.listen(recorder);
        inbox.request(recorder, 1);
        assertThat(recorder.heard).containsExactly(1, 2, 3);
        assertThat(deepest).hasValue(1);
    }

    /** The listener has left on its own thread; the poller learns of it later. */
    @Test
    void whoIsNotActiveAnyMoreHearsNothing() {
        recorder.reaction = number -> recorder.active = false;
        receive(1);
        receive(2);
        inbox.listen(recorder);
        inbox.request(recorder, 5);
        receive(3);
        assertThat(recorder.heard).containsExactly(1);
        assertThat(inbox.takeGranted()).isEqualTo(1);
        Recorder next = new Recorder();
        inbox.leave(recorder);
        inbox.listen(next);
        inbox.request(next, 5);
        assertThat(next.heard).containsExactly(2, 3);
    }

    @Test
    void listenerThatThrowsGetsTheNextAndItsEnd() {
        try (CapturedLog log = CapturedLog.warnings()) {
            recorder.reaction = number -> {
                throw new AssertionError("thrown on purpose");
            };
            inbox.listen(recorder);
            inbox.request(recorder, Long.MAX_VALUE);
            receive(1);
            receive(2);
            inbox.end(null);
            assertThat(recorder.heard).containsExactly(1, 2);
            assertThat(recorder.ends).hasSize(1);
            assertThat(inbox.takeGranted()).isEqualTo(2);
            assertThat(log.lines()).hasSize(2);
        }
    }

    @Test
    void listenerThatHasLeftIsNotToldOfTheEnd() {
        inbox.listen(recorder);
        // on its own thread, before the poller learns of it
        recorder.active = false;
        inbox.end(null);
        assertThat(recorder.ends).isEmpty();
    }
}
