package io.sluice.engine.flow;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.testkit.Patience;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class EngineWindowTest {
    private final List<String> woken = new ArrayList<>();
    private final EngineWindow window = new EngineWindow(2, 100);

    /** Says when it is woken. */
    private final class Waiter implements CreditWaiter {
        private final String name;

        Waiter(String name) {
            this.name = name;
        }

        void await() {
            window.awaitOperation(this);
        }

        @Override
        public void creditsReturned() {
            woken.add(name);
        }
    }

    private final Waiter first = new Waiter("first");
    private final Waiter second = new Waiter("second");
    private final Waiter third = new Waiter("third");

    @Test
    void limitsHoldToTheLastCredit() {
        assertThat(window.tryAcquireOperation(first)).isTrue();
        assertThat(window.tryAcquireOperation(first)).isTrue();
        assertThat(window.tryAcquireOperation(first)).isFalse();
        assertThat(window.tryAcquireBytes(first, 100)).isTrue();
        assertThat(window.tryAcquireBytes(first, 1)).isFalse();
        assertThat(window.tryAcquireBytes(first, 0)).isTrue();
        window.releaseBytes(1);
        assertThat(window.tryAcquireBytes(first, 1)).isTrue();
        assertThat(window.bytes()).isEqualTo(100);
        assertThat(window.operations()).isEqualTo(2);
    }

    @Test
    void bothKindsAtOnceGoToNobodyWhileOthersWaitForOneOfThem() {
        second.await();
        assertThat(window.tryAcquire(first, 1, 10)).isFalse();
        assertThat(window.tryAcquire(first, 0, 10))
                .as("no connection waits for bytes")
                .isTrue();
        assertThat(window.tryAcquire(second, 1, 10)).isTrue();
        window.leaveOperations(second);
        assertThat(window.tryAcquire(first, 1, 10)).isTrue();
        woken.clear();
        second.await();
        window.release(1, 10);
        assertThat(woken).containsOnly("second");
        window.leaveOperations(second);

        window.awaitBytes(third);
        assertThat(window.tryAcquire(first, 1, 10)).isFalse();
        assertThat(window.tryAcquire(first, 1, 0))
                .as("no connection waits for operations")
                .isTrue();
        woken.clear();
        window.release(1, 0);
        assertThat(woken).as("no bytes have come back").isEmpty();
        window.release(0, 10);
        assertThat(woken).containsOnly("third");
        assertThat(window.tryAcquire(third, 1, 10)).isTrue();
    }

    @Test
    void whoWaitsLongestIsWokenFirstAndUntilItLeaves() {
        window.tryAcquireOperation(first);
        window.tryAcquireOperation(first);
        first.await();
        second.await();
        assertThat(woken).isEmpty();
        window.releaseOperation();
        assertThat(woken).isNotEmpty().containsOnly("first");
        woken.clear();
        window.leaveOperations(first);
        assertThat(woken).containsExactly("second");
    }

    /** Otherwise a busy connection would take each credit before the poller of a waiting one has woken. */
    @Test
    void nobodyOvertakesWhoWaits() {
        first.await();
        second.await();
        assertThat(window.tryAcquireOperation(second)).isFalse();
        assertThat(window.tryAcquireOperation(third)).isFalse();
        assertThat(window.operations()).isZero();
        assertThat(window.tryAcquireOperation(first)).isTrue();
        window.leaveOperations(first);
        assertThat(window.tryAcquireOperation(first)).isFalse();
        assertThat(window.tryAcquireOperation(second)).isTrue();
        window.leaveOperations(second);
        window.releaseOperation();
        assertThat(window.tryAcquireOperation(third)).isTrue();
    }

    /** Who needs bytes may hold the very operation credit that the other waits for. */
    @Test
    void whoWaitsForAnOperationHoldsNobodyUpWhoNeedsBytes() {
        first.await();
        assertThat(window.tryAcquireBytes(second, 1)).isTrue();
        window.awaitBytes(second);
        assertThat(window.tryAcquireBytes(third, 1)).isFalse();
        assertThat(window.tryAcquireOperation(first)).isTrue();
        woken.clear();
        window.releaseBytes(1);
        assertThat(woken).containsExactly("second");
    }

    @Test
    void whoWaitsAgainGoesToTheEnd() {
        first.await();
        second.await();
        third.await();
        window.leaveOperations(first);
        first.await();
        window.leaveOperations(second);
        window.leaveOperations(third);
        assertThat(woken).containsExactly("second", "third", "first");
    }

    /** One that does not want credits any more must not leave all behind it waiting. */
    @Test
    void whoLeavesFromTheMiddleHoldsNobodyUp() {
        first.await();
        second.await();
        third.await();
        window.leaveOperations(second);
        window.leaveOperations(second);
        woken.clear();
        window.leaveOperations(first);
        assertThat(woken).containsExactly("third");
        assertThat(window.tryAcquireOperation(third)).isTrue();
        window.leaveOperations(third);
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
                    if (window.tryAcquireOperation(first)) {
                        if (window.operations() > 2) {
                            exceeded.incrementAndGet();
                        }
                        window.releaseOperation();
                    }
                    if (window.tryAcquireBytes(first, 60)) {
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
