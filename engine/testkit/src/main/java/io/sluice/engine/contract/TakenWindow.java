package io.sluice.engine.contract;

import static io.sluice.testkit.Patience.until;
import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.Transfer;
import io.sluice.engine.TransferCancelledException;
import io.sluice.engine.TransferOptions;
import java.lang.foreign.Arena;

/**
 * A connection with a window of one operation, taken by an atomic operation that the target does not carry out until this is
 * closed: transfers submitted meanwhile wait. On every transport its processors have to do it.
 */
final class TakenWindow implements AutoCloseable {
    private final EnginePair pair;
    private final MemoryRegion local;
    private final RemoteRegion remote;
    private final Blockade blockade;
    private final FetchOutcome holder;

    TakenWindow(EnginePair pair) {
        assertThat(pair.connection().window().operationLimit()).isEqualTo(1);
        this.pair = pair;
        // as the target's: of the host, on transports for other memory as well
        local = pair.initiator().register(Arena.ofAuto().allocate(8, Long.BYTES), RegionOptions.local());
        remote = pair.attach(pair.servedByTheTarget(8));
        blockade = Blockade.ofTarget(pair);
        holder = pair.fetchAdd(remote, 0, 0);
        until("it holds the only credit", () -> pair.connection().window().operations() == 1);
    }

    /** Waits until the poller has seen all that this thread has submitted; none of it is posted yet. */
    void settle() {
        TerminalSignal last = new TerminalSignal();
        Transfer marker = pair.connection().write(local, 0, remote, 0, 8, TransferOptions.defaults(), last);
        marker.cancel();
        last.awaitFailure(TransferCancelledException.class);
        assertThat(holder.terminal().ended()).as("the window is taken").isFalse();
    }

    @Override
    public void close() {
        blockade.close();
        holder.awaitPrevious();
    }
}
