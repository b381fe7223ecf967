package io.sluice.engine.flow;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.EngineOptions;
import io.sluice.engine.transport.Capabilities;
import io.sluice.engine.transport.Deadline;
import io.sluice.engine.transport.EventLoop;
import io.sluice.engine.transport.NotificationSender;
import io.sluice.testkit.Patience;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class EngineWindowTest {
    private final List<String> woken = new ArrayList<>();
    private final EngineWindow window = new EngineWindow(2, 100);

    /** A flow without a connection, which has nothing to post: only its being woken is looked at. */
    private final class Waiter implements EventLoop {
        private final String name;
        private final ConnectionFlow flow;

        Waiter(String name) {
            this.name = name;
            this.flow = new ConnectionFlow(
                    null,
                    this,
                    ConnectionCounters.alone(),
                    EngineOptions.defaults(),
                    window,
                    new Capabilities(true, Capabilities.CompletionLevel.VISIBLE, 1 << 20, true),
                    0,
                    null,
                    new Silent(),
                    1);
        }

        void await() {
            window.awaitOperation(flow);
        }

        @Override
        public void addSource(Source source) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void removeSource(Source source) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void execute(Runnable task) {
            woken.add(name);
        }

        @Override
        public long now() {
            return System.nanoTime();
        }

        @Override
        public Watch watch(int descriptor, ReadinessHandler handler) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void atEndOfCycle(Runnable task) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void arm(Deadline deadline, long at) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void disarm(Deadline deadline) {
            throw new UnsupportedOperationException();
        }
    }

    private static final class Silent implements NotificationSender {
        @Override
        public boolean hasRoom() {
            return false;
        }

        @Override
        public void send(byte[] payload) {
            throw new UnsupportedOperationException();
        }
    }

    private final Waiter first = new Waiter("first");
    private final Waiter second = new Waiter("second");
    private final Waiter third = new Waiter("third");

    @Test
    void limitsHoldToTheLastCredit() {
        assertThat(window.tryAcquireOperation(first.flow)).isTrue();
        assertThat(window.tryAcquireOperation(first.flow)).isTrue();
        assertThat(window.tryAcquireOperation(first.flow)).isFalse();
        assertThat(window.tryAcquireBytes(first.flow, 100)).isTrue();
        assertThat(window.tryAcquireBytes(first.flow, 1)).isFalse();
        assertThat(window.tryAcquireBytes(first.flow, 0)).isTrue();
        window.releaseBytes(1);
        assertThat(window.tryAcquireBytes(first.flow, 1)).isTrue();
        assertThat(window.bytes()).isEqualTo(100);
        assertThat(window.operations()).isEqualTo(2);
    }

    @Test
    void bothKindsAtOnceGoToNobodyWhileOthersWaitForOneOfThem() {
        second.await();
        assertThat(window.tryAcquire(first.flow, 1, 10)).isFalse();
        assertThat(window.tryAcquire(first.flow, 0, 10))
                .as("nobody waits for bytes")
                .isTrue();
        assertThat(window.tryAcquire(second.flow, 1, 10)).isTrue();
        window.leaveOperations(second.flow);
        assertThat(window.tryAcquire(first.flow, 1, 10)).isTrue();
        woken.clear();
        second.await();
        window.release(1, 10);
        assertThat(woken).containsOnly("second");
        window.leaveOperations(second.flow);

        window.awaitBytes(third.flow);
        assertThat(window.tryAcquire(first.flow, 1, 10)).isFalse();
        assertThat(window.tryAcquire(first.flow, 1, 0))
                .as("nobody waits for operations")
                .isTrue();
        woken.clear();
        window.release(1, 0);
        assertThat(woken).as("no bytes have come back").isEmpty();
        window.release(0, 10);
        assertThat(woken).containsOnly("third");
        assertThat(window.tryAcquire(third.flow, 1, 10)).isTrue();
    }

    @Test
    void whoWaitsLongestIsWokenFirstAndUntilItLeaves() {
        window.tryAcquireOperation(first.flow);
        window.tryAcquireOperation(first.flow);
        first.await();
        second.await();
        assertThat(woken).isEmpty();
        window.releaseOperation();
        assertThat(woken).isNotEmpty().containsOnly("first");
        woken.clear();
        window.leaveOperations(first.flow);
        assertThat(woken).containsExactly("second");
    }

    /** Otherwise a busy connection would take each credit before the poller of a waiting one has woken. */
    @Test
    void nobodyOvertakesWhoWaits() {
        first.await();
        second.await();
        assertThat(window.tryAcquireOperation(second.flow)).isFalse();
        assertThat(window.tryAcquireOperation(third.flow)).isFalse();
        assertThat(window.operations()).isZero();
        assertThat(window.tryAcquireOperation(first.flow)).isTrue();
        window.leaveOperations(first.flow);
        assertThat(window.tryAcquireOperation(first.flow)).isFalse();
        assertThat(window.tryAcquireOperation(second.flow)).isTrue();
        window.leaveOperations(second.flow);
        window.releaseOperation();
        assertThat(window.tryAcquireOperation(third.flow)).isTrue();
    }

    /** Who needs bytes may hold the very operation credit that the other waits for. */
    @Test
    void whoWaitsForAnOperationHoldsNobodyUpWhoNeedsBytes() {
        first.await();
        assertThat(window.tryAcquireBytes(second.flow, 1)).isTrue();
        window.awaitBytes(second.flow);
        assertThat(window.tryAcquireBytes(third.flow, 1)).isFalse();
        assertThat(window.tryAcquireOperation(first.flow)).isTrue();
        woken.clear();
        window.releaseBytes(1);
        assertThat(woken).containsExactly("second");
    }

    @Test
    void whoWaitsAgainGoesToTheEnd() {
        first.await();
        second.await();
        third.await();
        window.leaveOperations(first.flow);
        first.await();
        window.leaveOperations(second.flow);
        window.leaveOperations(third.flow);
        assertThat(woken).containsExactly("second", "third", "first");
    }

    /** One that does not want credits any more must not leave all behind it waiting. */
    @Test
    void whoLeavesFromTheMiddleHoldsNobodyUp() {
        first.await();
        second.await();
        third.await();
        window.leaveOperations(second.flow);
        window.leaveOperations(second.flow);
        woken.clear();
        window.leaveOperations(first.flow);
        assertThat(woken).containsExactly("third");
        assertThat(window.tryAcquireOperation(third.flow)).isTrue();
        window.leaveOperations(third.flow);
        window.releaseOperation();
        assertThat(woken).containsExactly("third");
    }

    @Test
    void manyThreadsNeverExceedTheLimits() {
        AtomicInteger exceeded = new AtomicInteger();
        List<CompletableFuture<Void>> ends = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            ends.add(CompletableFuture.runAsync(() -> {
                for (int round = 0; round < 50_000; round++) {
                    if (window.tryAcquireOperation(first.flow)) {
                        if (window.operations() > 2) {
                            exceeded.incrementAndGet();
                        }
                        window.releaseOperation();
                    }
                    if (window.tryAcquireBytes(first.flow, 60)) {
                        if (window.bytes() > 100) {
                            exceeded.incrementAndGet();
                        }
                        window.releaseBytes(60);
                    }
                }
            }));
        }
        ends.forEach(Patience::await);
        assertThat(exceeded).hasValue(0);
        assertThat(window.operations()).isZero();
        assertThat(window.bytes()).isZero();
        assertThat(window.maxOperationsSeen()).isBetween(1, 2);
        assertThat(window.maxBytesSeen()).isEqualTo(60);
    }
}
