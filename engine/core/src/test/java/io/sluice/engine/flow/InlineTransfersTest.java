package io.sluice.engine.flow;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.TransferOptions;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The leases and credits that a thread holds while it executes its own transfer. */
class InlineTransfersTest {
    private final EngineWindow engine = new EngineWindow(4, 100);
    private final SteppedFlow stepped = new SteppedFlow(engine);
    private final ConnectionWindow window = new ConnectionWindow(4, 100, engine);
    private final InlineTransfers callerThread =
            new InlineTransfers(stepped.flow.figures(), stepped.flow.mailbox(), stepped.callerThreadPath(), window);
    private final List<Integer> ends = new ArrayList<>();

    private DataTransfer held() {
        DataTransfer transfer = (DataTransfer)
                stepped.write(TransferOptions.defaults(), (ended, error) -> ends.add(stepped.memory.leases()));
        assertThat(transfer.hold()).isTrue();
        return transfer;
    }

    private void assertNothingIsHeld() {
        assertThat(stepped.memory.leases()).isZero();
        assertThat(window.operations()).isZero();
        assertThat(window.bytes()).isZero();
        assertThat(engine.operations()).isZero();
        assertThat(engine.bytes()).isZero();
    }

    @Test
    void memoryIsLeasedAndCreditsAreTakenWhileBytesMove() {
        List<Long> held = new ArrayList<>();
        stepped.endpoint.carriesOut = () -> {
            held.addAll(List.of(
                    (long) stepped.memory.leases(), (long) window.operations(), window.bytes(), engine.bytes()));
            return true;
        };
        assertThat(callerThread.execute(held())).isTrue();
        assertThat(held).containsExactly(1L, 1L, (long) SteppedFlow.TRANSFER_BYTES, (long) SteppedFlow.TRANSFER_BYTES);
        assertThat(ends).as("leases at the terminal signal").containsExactly(0);
        assertNothingIsHeld();
    }

    @Test
    void whatCannotBeCarriedOutHereHoldsNothing() {
        stepped.endpoint.carriesOut = () -> false;
        assertThat(callerThread.execute(held())).isFalse();
        assertThat(ends).isEmpty();
        assertNothingIsHeld();
    }
}
