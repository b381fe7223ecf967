package io.sluice.engine.contract;

import static io.sluice.testkit.Patience.await;
import static io.sluice.testkit.Patience.until;
import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.StartEvent;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.TransferTimeoutException;
import io.sluice.testkit.Patience;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Each rare event is reported once, to all observers, and their exceptions do no harm. */
interface ObserverContract extends Contract {
    private static List<String> of(RecordingObserver observer, String kind) {
        return observer.events().stream()
                .filter(event -> event.startsWith(kind))
                .toList();
    }

    @Test
    default void observersHearOfConnectionsAndRegions() {
        RecordingObserver first = new RecordingObserver();
        RecordingObserver second = new RecordingObserver();
        try (EnginePair pair = EnginePair.open(
                transport(),
                initiator -> initiator.observer(first).observer(second).slowTransfer(Patience.BOUND),
                target -> {})) {
            MemoryRegion local = pair.local(4321);
            pair.write(local, 0, pair.attach(pair.served(64)), 0, 64).awaitSuccess();
            await(local.close());
            await(pair.connection().close());
            for (RecordingObserver observer : List.of(first, second)) {
                until(
                        "all events are reported",
                        () -> of(observer, "connection").equals(List.of("connection OPEN", "connection CLOSED")));
                assertThat(of(observer, "opened")).containsExactly("opened 4321");
                assertThat(of(observer, "closed")).containsExactly("closed 4321");
                assertThat(of(observer, "slow")).isEmpty();
            }
        }
    }

    @Test
    default void observersHearOfSlowTransfers() {
        RecordingObserver observer = new RecordingObserver();
        try (EnginePair pair = EnginePair.open(
                transport(),
                initiator -> initiator.observer(observer).slowTransfer(Duration.ofNanos(1)),
                target -> {})) {
            MemoryRegion local = pair.local(1 << 20);
            RemoteRegion remote = pair.attach(pair.served(1 << 20));
            pair.write(local, 0, remote, 0, 1 << 20).awaitSuccess();
            pair.read(local, 0, remote, 0, 1 << 19).awaitSuccess();
            pair.write(
                            local,
                            0,
                            remote,
                            0,
                            10,
                            TransferOptions.defaults()
                                    .startAfter(StartEvent.of(new CompletableFuture<Void>()))
                                    .withDeadline(Duration.ofMillis(1)))
                    .awaitFailure(TransferTimeoutException.class);
            assertThat(of(observer, "slow"))
                    .containsExactly(
                            "slow WRITE 1048576", "slow READ 524288", "slow WRITE 10 TransferTimeoutException");
        }
    }

    @Test
    default void observersHearOfStalls() {
        RecordingObserver observer = new RecordingObserver();
        try (EnginePair pair = EnginePair.open(
                transport(),
                initiator -> initiator.observer(observer).stallThreshold(Duration.ofMillis(50)),
                target -> {})) {
            RemoteRegion remote = pair.attach(pair.served(64));
            // an atomic operation ends on the poller, on every transport
            pair.connection()
                    .fetchAdd(
                            remote,
                            0,
                            1,
                            TransferOptions.defaults(),
                            (transfer, previous, error) -> Patience.pause(Duration.ofMillis(150)));
            until("the stall is reported", () -> of(observer, "stalled").contains("stalled 0"));
        }
    }
}
