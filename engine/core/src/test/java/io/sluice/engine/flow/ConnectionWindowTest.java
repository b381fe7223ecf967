package io.sluice.engine.flow;

import static io.sluice.engine.flow.ConnectionWindow.Grant.CONNECTION_EXHAUSTED;
import static io.sluice.engine.flow.ConnectionWindow.Grant.ENGINE_EXHAUSTED;
import static io.sluice.engine.flow.ConnectionWindow.Grant.GRANTED;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Random;
import org.junit.jupiter.api.Test;

class ConnectionWindowTest {
    // No test here waits for the engine's credits, so the waiter does not matter.
    private static final CreditWaiter NO_WAITER = null;

    private final EngineWindow engine = new EngineWindow(5, 1000);
    private final ConnectionWindow window = new ConnectionWindow(3, 600, engine);

    @Test
    void operationsUpToTheLimit() {
        for (int i = 0; i < 3; i++) {
            assertThat(window.tryAcquireOperation(NO_WAITER)).isEqualTo(GRANTED);
        }
        assertThat(window.tryAcquireOperation(NO_WAITER)).isEqualTo(CONNECTION_EXHAUSTED);
        assertThat(window.operations()).isEqualTo(3);
        assertThat(engine.operations()).as("a refusal costs the engine nothing").isEqualTo(3);
        window.releaseOperation();
        assertThat(window.tryAcquireOperation(NO_WAITER)).isEqualTo(GRANTED);
        assertThat(window.maxOperationsSeen()).isEqualTo(3);
    }

    @Test
    void bytesUpToTheLimitAndNotOneMore() {
        assertThat(window.tryAcquireBytes(NO_WAITER, 600)).isEqualTo(GRANTED);
        assertThat(window.tryAcquireBytes(NO_WAITER, 1)).isEqualTo(CONNECTION_EXHAUSTED);
        assertThat(window.tryAcquireBytes(NO_WAITER, 0)).isEqualTo(GRANTED);
        window.releaseBytes(600);
        assertThat(window.tryAcquireBytes(NO_WAITER, 601)).isEqualTo(CONNECTION_EXHAUSTED);
        assertThat(window.bytes()).isZero();
        assertThat(engine.bytes()).isZero();
        assertThat(window.maxBytesSeen()).isEqualTo(600);
    }

    @Test
    void engineLimitsAllItsConnectionsTogether() {
        ConnectionWindow other = new ConnectionWindow(3, 600, engine);
        for (int i = 0; i < 3; i++) {
            assertThat(window.tryAcquireOperation(NO_WAITER)).isEqualTo(GRANTED);
        }
        assertThat(other.tryAcquireOperation(NO_WAITER)).isEqualTo(GRANTED);
        assertThat(other.tryAcquireOperation(NO_WAITER)).isEqualTo(GRANTED);
        assertThat(other.tryAcquireOperation(NO_WAITER)).isEqualTo(ENGINE_EXHAUSTED);
        assertThat(other.operations())
                .as("a refusal costs the connection nothing")
                .isEqualTo(2);
        assertThat(window.tryAcquireBytes(NO_WAITER, 500)).isEqualTo(GRANTED);
        assertThat(other.tryAcquireBytes(NO_WAITER, 501)).isEqualTo(ENGINE_EXHAUSTED);
        assertThat(other.bytes()).isZero();
        assertThat(other.tryAcquireBytes(NO_WAITER, 500)).isEqualTo(GRANTED);
        assertThat(engine.maxOperationsSeen()).isEqualTo(5);
        assertThat(engine.maxBytesSeen()).isEqualTo(1000);
        window.releaseOperation();
        assertThat(other.tryAcquireOperation(NO_WAITER)).isEqualTo(GRANTED);
    }

    @Test
    void bothKindsAtOnceOrNeither() {
        ConnectionWindow other = new ConnectionWindow(3, 600, engine);
        assertThat(window.tryAcquire(NO_WAITER, 1, 601)).isEqualTo(CONNECTION_EXHAUSTED);
        assertThat(window.tryAcquire(NO_WAITER, 1, 600)).isEqualTo(GRANTED);
        assertThat(other.tryAcquire(NO_WAITER, 1, 401)).isEqualTo(ENGINE_EXHAUSTED);
        assertThat(other.operations())
                .as("a refusal costs the connection nothing")
                .isZero();
        assertThat(other.bytes()).isZero();
        assertThat(other.maxOperationsSeen())
                .as("nor is it ever seen in flight")
                .isZero();
        assertThat(engine.operations()).isOne();
        assertThat(engine.bytes()).isEqualTo(600);
        window.release(1, 600);
        assertThat(other.tryAcquire(NO_WAITER, 1, 401)).isEqualTo(GRANTED);
        assertThat(window.operations()).isZero();
        assertThat(window.bytes()).isZero();
        assertThat(engine.operations()).isOne();
        assertThat(engine.bytes()).isEqualTo(401);
    }

    @Test
    void highWaterMarksStayWhenCreditsComeBack() {
        window.tryAcquireOperation(NO_WAITER);
        window.tryAcquireBytes(NO_WAITER, 7);
        window.releaseBytes(7);
        window.releaseOperation();
        assertThat(window.operations()).isZero();
        assertThat(window.bytes()).isZero();
        assertThat(window.maxOperationsSeen()).isEqualTo(1);
        assertThat(window.maxBytesSeen()).isEqualTo(7);
        assertThat(engine.maxOperationsSeen()).isEqualTo(1);
        assertThat(engine.maxBytesSeen()).isEqualTo(7);
    }

    @Test
    void randomUseNeverExceedsALimitAndAddsUp() {
        Random random = new Random(8);
        Deque<Integer> held = new ArrayDeque<>();
        int operations = 0;
        long bytes = 0;
        for (int i = 0; i < 100_000; i++) {
            switch (random.nextInt(4)) {
                case 0 -> {
                    if (window.tryAcquireOperation(NO_WAITER) == GRANTED) {
                        operations++;
                    }
                }
                case 1 -> {
                    int wanted = random.nextInt(700);
                    if (window.tryAcquireBytes(NO_WAITER, wanted) == GRANTED) {
                        held.add(wanted);
                        bytes += wanted;
                    }
                }
                case 2 -> {
                    if (operations > 0) {
                        window.releaseOperation();
                        operations--;
                    }
                }
                default -> {
                    if (!held.isEmpty()) {
                        int back = held.remove();
                        window.releaseBytes(back);
                        bytes -= back;
                    }
                }
            }
            assertThat(window.operations()).isEqualTo(operations).isBetween(0, 3);
            assertThat(window.bytes()).isEqualTo(bytes).isBetween(0L, 600L);
            assertThat(engine.operations()).isEqualTo(operations);
            assertThat(engine.bytes()).isEqualTo(bytes);
        }
    }
}
