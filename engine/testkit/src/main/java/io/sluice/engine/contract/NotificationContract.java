package io.sluice.engine.contract;

import static io.sluice.testkit.Patience.await;
import static io.sluice.testkit.Patience.until;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.sluice.engine.Connection;
import io.sluice.engine.ConnectionLostException;
import io.sluice.engine.NotificationSubscription;
import io.sluice.engine.Transfer;
import io.sluice.engine.TransferCancelledException;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.TransferTimeoutException;
import io.sluice.testkit.Patience;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Notifications come once, and cost credits that the receiver grants. */
interface NotificationContract extends Contract {
    Duration LONG_ENOUGH_TO_SEE = Duration.ofMillis(50);
    int CREDITS = 8;

    private static byte[] number(int value) {
        return ByteBuffer.allocate(4).putInt(value).array();
    }

    private static List<Integer> numbers(RecordingListener listener) {
        return listener.payloads().stream()
                .map(payload -> ByteBuffer.wrap(payload).getInt())
                .toList();
    }

    private static void assertEnded(List<TerminalSignal> signals, int expected) {
        until(expected + " ended", () -> TerminalSignal.ended(signals) >= expected);
        Patience.pause(LONG_ENOUGH_TO_SEE);
        assertThat(TerminalSignal.ended(signals)).isEqualTo(expected);
    }

    @Test
    default void payloadsOfAllSizesArrive() {
        try (EnginePair pair = EnginePair.open(transport())) {
            RecordingListener listener = new RecordingListener();
            pair.accepted().subscribe(listener).request(Long.MAX_VALUE);
            int[] sizes = {
                0, 1, 7, 8, 63, 64, 65, 4096, 65_535, pair.connection().maxNotificationBytes()
            };
            for (int size : sizes) {
                byte[] payload = new byte[size];
                for (int i = 0; i < size; i++) {
                    payload[i] = BytePattern.at(size, i);
                }
                TerminalSignal signal = pair.notify(payload);
                // It was copied.
                Arrays.fill(payload, (byte) 0);
                signal.awaitSuccess();
            }
            until("all came", () -> listener.count() == sizes.length);
            for (int i = 0; i < sizes.length; i++) {
                byte[] payload = listener.payloads().get(i);
                assertThat(payload).hasSize(sizes[i]);
                for (int at = 0; at < payload.length; at++) {
                    if (payload[at] != BytePattern.at(sizes[i], at)) {
                        assertThat(payload[at])
                                .as("byte %d of %d", at, sizes[i])
                                .isEqualTo(BytePattern.at(sizes[i], at));
                    }
                }
            }
        }
    }

    @Test
    default void payloadThatIsTooLong() {
        try (EnginePair pair =
                EnginePair.open(transport(), initiator -> {}, target -> target.maxNotificationBytes(100))) {
            TerminalSignal never = new TerminalSignal();
            assertThat(pair.connection().maxNotificationBytes()).isEqualTo(100);
            assertThat(pair.accepted().maxNotificationBytes()).isEqualTo(64 * 1024);
            assertThatThrownBy(() -> pair.connection().notify(new byte[101], TransferOptions.defaults(), never))
                    .isInstanceOf(IllegalArgumentException.class);
            pair.notify(new byte[100]).awaitSuccess();
            assertThat(never.count()).isZero();
        }
    }

    @Test
    default void bothSidesNotify() {
        try (EnginePair pair = EnginePair.open(transport())) {
            RecordingListener atInitiator = new RecordingListener();
            RecordingListener atTarget = new RecordingListener();
            pair.connection().subscribe(atInitiator).request(Long.MAX_VALUE);
            pair.accepted().subscribe(atTarget).request(Long.MAX_VALUE);
            List<TerminalSignal> signals = new ArrayList<>();
            for (int i = 0; i < 500; i++) {
                signals.add(pair.notify(number(i)));
                TerminalSignal back = new TerminalSignal();
                pair.accepted().notify(number(-i), TransferOptions.defaults(), back);
                signals.add(back);
            }
            TerminalSignal.awaitAllSuccess(signals);
            until("all came", () -> atInitiator.count() == 500 && atTarget.count() == 500);
            assertThat(numbers(atTarget)).doesNotHaveDuplicates();
            assertThat(numbers(atInitiator)).doesNotHaveDuplicates();
        }
    }

    @Test
    default void notificationsBeforeThereIsAListenerAreKept() {
        try (EnginePair pair = EnginePair.open(transport())) {
            for (int i = 0; i < 5; i++) {
                pair.notify(number(i)).awaitSuccess();
            }
            RecordingListener listener = new RecordingListener();
            NotificationSubscription subscription = pair.accepted().subscribe(listener);
            Patience.pause(LONG_ENOUGH_TO_SEE);
            assertThat(listener.count()).as("nothing was asked for").isZero();
            subscription.request(3);
            until("three came", () -> listener.count() == 3);
            pair.notify(number(5)).awaitSuccess();
            Patience.pause(LONG_ENOUGH_TO_SEE);
            assertThat(numbers(listener)).containsExactly(0, 1, 2);
            subscription.request(Long.MAX_VALUE);
            until("all came", () -> listener.count() == 6);
            assertThat(numbers(listener)).containsExactly(0, 1, 2, 3, 4, 5);
        }
    }

    @Test
    default void senderWaitsForTheReceiversCredits() {
        try (EnginePair pair =
                EnginePair.open(transport(), initiator -> {}, target -> target.notificationCredits(CREDITS))) {
            RecordingListener listener = new RecordingListener();
            NotificationSubscription subscription = pair.accepted().subscribe(listener);
            List<TerminalSignal> signals = new ArrayList<>();
            for (int i = 0; i < 3 * CREDITS; i++) {
                signals.add(pair.notify(number(i)));
            }
            assertEnded(signals, CREDITS);
            for (int asked = 1; asked <= 3; asked++) {
                subscription.request(1);
                assertEnded(signals, CREDITS + asked);
                assertThat(listener.count()).isEqualTo(asked);
            }
            subscription.request(Long.MAX_VALUE);
            TerminalSignal.awaitAllSuccess(signals);
            until("all came", () -> listener.count() == 3 * CREDITS);
            assertThat(numbers(listener)).doesNotHaveDuplicates();
        }
    }

    @Test
    default void receiverWithoutAListenerHoldsTheSenderBackAsWell() {
        try (EnginePair pair =
                EnginePair.open(transport(), initiator -> {}, target -> target.notificationCredits(CREDITS))) {
            List<TerminalSignal> signals = new ArrayList<>();
            for (int i = 0; i < 10 * CREDITS; i++) {
                signals.add(pair.notify(new byte[pair.connection().maxNotificationBytes()]));
            }
            assertEnded(signals, CREDITS);
            RecordingListener listener = new RecordingListener();
            pair.accepted().subscribe(listener).request(Long.MAX_VALUE);
            TerminalSignal.awaitAllSuccess(signals);
            until("all came", () -> listener.count() == 10 * CREDITS);
        }
    }

    @Test
    default void transfersGoOnWhileNotificationsWait() {
        try (EnginePair pair = EnginePair.open(
                transport(), initiator -> initiator.windowOperations(4), target -> target.notificationCredits(1))) {
            var local = pair.local(64);
            var remote = pair.attach(pair.served(64));
            List<TerminalSignal> waiting = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
                waiting.add(pair.notify(number(i)));
            }
            for (int i = 0; i < 100; i++) {
                pair.write(local, 0, remote, 0, 64).awaitSuccess();
                pair.read(local, 0, remote, 0, 64).awaitSuccess();
            }
            assertThat(TerminalSignal.ended(waiting)).isLessThanOrEqualTo(1);
        }
    }

    @Test
    default void deadlineAndCancelOfANotificationThatWaits() {
        try (EnginePair pair =
                EnginePair.open(transport(), initiator -> {}, target -> target.notificationCredits(CREDITS))) {
            for (int i = 0; i < CREDITS; i++) {
                pair.notify(number(i)).awaitSuccess();
            }
            TerminalSignal late =
                    pair.notify(number(100), TransferOptions.defaults().withDeadline(Duration.ofMillis(100)));
            TerminalSignal unwanted = new TerminalSignal();
            Transfer transfer = pair.connection().notify(number(101), TransferOptions.defaults(), unwanted);
            TerminalSignal patient = pair.notify(number(102));
            late.awaitFailure(TransferTimeoutException.class);
            transfer.cancel();
            unwanted.awaitFailure(TransferCancelledException.class);
            await(transfer.quiesced());
            assertThat(patient.ended()).isFalse();
            RecordingListener listener = new RecordingListener();
            pair.accepted().subscribe(listener).request(Long.MAX_VALUE);
            patient.awaitSuccess();
            until("all came", () -> listener.count() == CREDITS + 1);
            Patience.pause(LONG_ENOUGH_TO_SEE);
            assertThat(numbers(listener)).containsExactly(0, 1, 2, 3, 4, 5, 6, 7, 102);
            assertThat(late.count()).isEqualTo(1);
            assertThat(unwanted.count()).isEqualTo(1);
        }
    }

    @Test
    default void creditsOfNotificationsThatWereGivenUpAreNotLost() {
        try (EnginePair pair =
                EnginePair.open(transport(), initiator -> {}, target -> target.notificationCredits(CREDITS))) {
            RecordingListener listener = new RecordingListener();
            pair.accepted().subscribe(listener).request(Long.MAX_VALUE);
            for (int round = 0; round < 200; round++) {
                TerminalSignal signal = new TerminalSignal();
                pair.connection()
                        .notify(number(round), TransferOptions.defaults(), signal)
                        .cancel();
                signal.await();
            }
            List<TerminalSignal> signals = new ArrayList<>();
            for (int i = 0; i < 3 * CREDITS; i++) {
                signals.add(pair.notify(number(1000 + i)));
            }
            TerminalSignal.awaitAllSuccess(signals);
        }
    }

    @Test
    default void nextListenerGetsWhatTheFirstDidNot() {
        try (EnginePair pair = EnginePair.open(transport())) {
            RecordingListener first = new RecordingListener();
            RecordingListener second = new RecordingListener();
            NotificationSubscription subscription = pair.accepted().subscribe(first);
            assertThatThrownBy(() -> pair.accepted().subscribe(second)).isInstanceOf(IllegalStateException.class);
            subscription.request(2);
            for (int i = 0; i < 5; i++) {
                pair.notify(number(i)).awaitSuccess();
            }
            until("two came", () -> first.count() == 2);
            subscription.cancel();
            // At once: a caller that cancels need not wait for a poller.
            pair.accepted().subscribe(second).request(Long.MAX_VALUE);
            until("the rest came", () -> second.count() == 3);
            assertThat(numbers(first)).containsExactly(0, 1);
            assertThat(numbers(second)).containsExactly(2, 3, 4);
        }
    }

    @Test
    default void requestIsAtLeastOne() {
        try (EnginePair pair = EnginePair.open(transport())) {
            NotificationSubscription subscription = pair.accepted().subscribe(new RecordingListener());
            assertThatThrownBy(() -> subscription.request(0)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> subscription.request(-1)).isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    default void listenerMayAskForTheNextFromTheCall() {
        int count = 2_000;
        try (EnginePair pair =
                EnginePair.open(transport(), initiator -> {}, target -> target.notificationCredits(CREDITS))) {
            NotificationSubscription[] subscription = new NotificationSubscription[1];
            RecordingListener listener = new RecordingListener(payload -> subscription[0].request(1));
            subscription[0] = pair.accepted().subscribe(listener);
            subscription[0].request(1);
            List<TerminalSignal> signals = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                signals.add(pair.notify(number(i)));
            }
            TerminalSignal.awaitAllSuccess(signals);
            until("all came", () -> listener.count() == count);
        }
    }

    @Test
    default void listenersHearTheEnd() {
        try (EnginePair pair = EnginePair.open(transport())) {
            RecordingListener here = new RecordingListener();
            RecordingListener there = new RecordingListener();
            pair.connection().subscribe(here).request(1);
            pair.accepted().subscribe(there).request(1);
            await(pair.connection().close());
            assertThat(await(here.end())).isEmpty();
            assertThat(await(there.end())).isEmpty();
        }
    }

    @Test
    default void waitingNotificationsEndWithTheConnection() {
        try (EnginePair pair =
                EnginePair.open(transport(), initiator -> {}, target -> target.notificationCredits(CREDITS))) {
            List<TerminalSignal> signals = new ArrayList<>();
            for (int i = 0; i < 3 * CREDITS; i++) {
                signals.add(pair.notify(number(i)));
            }
            assertEnded(signals, CREDITS);
            await(pair.connection().close());
            assertThat(TerminalSignal.awaitAllOnce(signals))
                    .hasSize(2 * CREDITS)
                    .allSatisfy(error -> assertThat(error).isInstanceOf(ConnectionLostException.class));
        }
    }

    @Test
    @Tag(DRIVER)
    @Tag(PROCESS)
    default void peerProcessNotifiesAndItsLossIsReported() {
        assumeTrue(transport().crossesProcesses(), ONE_PROCESS);
        try (PeerProcess peer = PeerProcess.start(transport(), Map.of("SLUICE_NOTIFICATION_CREDITS", "100"), 4096);
                TransferEngine engine =
                        TransferEngine.open(transport().options().build())) {
            Connection connection = await(engine.connect(peer.address()));
            RecordingListener listener = new RecordingListener();
            connection.subscribe(listener).request(Long.MAX_VALUE);
            peer.command("notify " + HexFormat.of().formatHex(number(42)));
            until("it came", () -> listener.count() == 1);
            assertThat(numbers(listener)).containsExactly(42);
            peer.command("subscribe");
            TerminalSignal signal = new TerminalSignal();
            connection.notify(number(43), TransferOptions.defaults(), signal);
            signal.awaitSuccess();
            until("the peer's listener has it", () -> peer.command("received").equals("1"));
            peer.kill();
            assertThat(await(listener.end())).containsInstanceOf(ConnectionLostException.class);
        }
    }
}
