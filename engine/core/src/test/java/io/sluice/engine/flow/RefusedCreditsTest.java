package io.sluice.engine.flow;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.TransferOptions;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Credits and their waiters where the engine has too few credits. */
class RefusedCreditsTest {
    private static final int ALL_BYTES = 10;

    private final EngineWindow engine = new EngineWindow(4, ALL_BYTES);
    private final SteppedFlow stepped = new SteppedFlow(engine);
    private final SteppedFlow other = new SteppedFlow(engine);
    private final AtomicInteger ended = new AtomicInteger();

    private FlowTransfer write() {
        return stepped.write(TransferOptions.defaults(), (transfer, error) -> {
            assertThat(error).isNull();
            ended.incrementAndGet();
        });
    }

    @Test
    void anElementWaitsForBytesWithItsOperationAndGoesWhenTheyComeBack() {
        assertThat(engine.tryAcquire(other.flow.mailbox(), 0, ALL_BYTES)).isTrue();
        SteppedFlow.start(write());
        stepped.settle();
        assertThat(ended).hasValue(0);
        assertThat(stepped.flow.window().operations()).isOne();
        assertThat(stepped.flow.window().bytes()).isZero();
        assertThat(engine.operations()).isOne();
        engine.release(0, ALL_BYTES);
        assertThat(stepped.loop.hasTask()).isTrue();
        stepped.settle();
        assertThat(ended).hasValue(1);
        assertThat(stepped.isAtRest()).isTrue();
        assertThat(engine.operations()).isZero();
        assertThat(engine.bytes()).isZero();
    }

    @Test
    void whatCameWhileACallersThreadHadTheConnectionsCreditsIsLookedAtAgain() {
        ConnectionWindow window = new ConnectionWindow(1, ALL_BYTES, engine);
        InlineTransfers callerThread =
                new InlineTransfers(stepped.flow.figures(), stepped.flow.mailbox(), stepped.callerThreadPath(), window);
        DataTransfer carriedOut = (DataTransfer) write();
        assertThat(carriedOut.hold()).isTrue();
        assertThat(engine.tryAcquire(other.flow.mailbox(), 0, ALL_BYTES)).isTrue();
        SteppedFlow.start(write());
        stepped.settle();
        assertThat(stepped.flow.pending()).isOne();

        assertThat(callerThread.execute(carriedOut)).isFalse();
        assertThat(window.operations()).isZero();
        assertThat(window.bytes()).isZero();
        assertThat(stepped.loop.hasTask())
                .as("the pending one may have met the credits taken")
                .isTrue();
        stepped.settle();

        assertThat(window.tryAcquireOperation(other.flow.mailbox())).isEqualTo(ConnectionWindow.Grant.GRANTED);
        assertThat(callerThread.execute(carriedOut)).isFalse();
        assertThat(stepped.loop.hasTask()).as("it had none to give back").isFalse();
    }
}
