package io.sluice.engine.contract;

import static io.sluice.engine.contract.BoundedWait.await;
import static io.sluice.engine.contract.BoundedWait.until;
import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.EngineMetrics;
import io.sluice.engine.EngineMetrics.Operation;
import io.sluice.engine.EngineMetrics.Outcome;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RemoteAccessException;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.TransferElement;
import io.sluice.engine.TransferOptions;
import java.util.Collections;
import org.junit.jupiter.api.Test;

/** The figures tell what happened. */
interface MetricsContract extends Contract {
    @Test
    default void operationsAndBytesAreCounted() {
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion local = pair.local(3 << 20);
            RemoteRegion remote = pair.attach(pair.served(3 << 20));
            EngineMetrics metrics = pair.initiator().metrics();
            EngineMetrics theirs = pair.target().metrics();
            for (int i = 0; i < 10; i++) {
                pair.write(local, 0, remote, 0, 1000).awaitSuccess();
            }
            pair.write(local, 0, remote, 0, 3 << 20).awaitSuccess();
            pair.read(local, 0, remote, 0, 2 << 20).awaitSuccess();
            ElementSignals signals = new ElementSignals(50);
            pair.connection()
                    .readVectored(
                            Collections.nCopies(50, new TransferElement(local, 0, remote, 0, 100)),
                            TransferOptions.defaults(),
                            signals);
            signals.terminal().awaitSuccess();
            pair.notify(new byte[5]).awaitSuccess();

            until("the writes are counted", () -> metrics.operations(Operation.WRITE, Outcome.SUCCESS) == 11);
            until("the reads are counted", () -> metrics.operations(Operation.READ, Outcome.SUCCESS) == 51);
            until("the notification is counted", () -> metrics.operations(Operation.NOTIFY, Outcome.SUCCESS) == 1);
            assertThat(metrics.bytes(Operation.WRITE)).isEqualTo(10_000 + (3 << 20));
            assertThat(metrics.bytes(Operation.READ)).isEqualTo(5_000 + (2 << 20));
            assertThat(metrics.operations(Operation.WRITE, Outcome.ERROR)).isZero();
            if (transport().needsTargetToRun()) {
                until(
                        "the target counts what it served",
                        () -> theirs.servedWriteBytes() == 10_000 + (3 << 20)
                                && theirs.servedReadBytes() == 5_000 + (2 << 20));
            }
            assertThat(metrics.connections()).isEqualTo(1);
            assertThat(metrics.pending()).isZero();
            assertThat(metrics.regions()).isEqualTo(1);
            assertThat(metrics.regionBytes()).isEqualTo(3 << 20);
            assertThat(metrics.busyPolls()).isPositive();
        }
    }

    @Test
    default void errorsAreCounted() {
        try (EnginePair pair = EnginePair.open(transport(), both -> both.windowOperations(1))) {
            MemoryRegion local = pair.local(16 << 20);
            MemoryRegion served = pair.served(16 << 20);
            RemoteRegion remote = pair.attach(served);
            EngineMetrics metrics = pair.initiator().metrics();
            pair.write(local, 0, remote, 0, 16 << 20);
            TerminalSignal cancelled = new TerminalSignal();
            pair.connection()
                    .write(local, 0, remote, 0, 16 << 20, TransferOptions.defaults(), cancelled)
                    .cancel();
            assertThat(cancelled.await()).isPresent();
            until("the cancel is counted", () -> metrics.operations(Operation.WRITE, Outcome.CANCELLED) == 1);
            await(served.close());
            pair.read(local, 0, remote, 0, 64).awaitFailure(RemoteAccessException.class);
            until("the refusal is counted", () -> metrics.operations(Operation.READ, Outcome.ERROR) == 1);
            if (transport().needsTargetToRun()) {
                until("the target counts it too", () -> pair.target().metrics().refused() >= 1);
            }
        }
    }
}
