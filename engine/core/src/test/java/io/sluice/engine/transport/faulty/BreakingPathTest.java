package io.sluice.engine.transport.faulty;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.Connection;
import io.sluice.engine.ConnectionLostException;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.Filling;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransferOptions;
import io.sluice.testkit.OpenDescriptors;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * Paths that break at a place that a seed decides, among refused requests and late completions. The system property
 * {@code sluice.test.fault-seed} is the first seed, {@code sluice.test.fault-seeds} says how many follow.
 */
class BreakingPathTest {
    private static final int SEEDS = 40;
    private static final int SOAK_SEEDS = 2_000;
    private static final int TRANSFERS = 400;
    private static final int BYTES = 1 << 20;
    private static final int PIECE = BYTES / TRANSFERS;

    /** The outcome of a transfer, and the number of its ends. */
    private static final class End {
        private final AtomicInteger signals = new AtomicInteger();
        private final CompletableFuture<@Nullable SluiceException> first = new CompletableFuture<>();

        void signal(@Nullable SluiceException error) {
            signals.incrementAndGet();
            first.complete(error);
        }
    }

    @Test
    void eachSeed() {
        boolean soak = System.getProperty("sluice.test.profile", "").equals("soak");
        int seeds = Integer.getInteger("sluice.test.fault-seeds", soak ? SOAK_SEEDS : SEEDS);
        long first = Long.getLong("sluice.test.fault-seed", 1);
        EngineOptions options = PatientOptions.builder()
                .transports(List.of("breaking"))
                .livenessTimeout(Patience.scaled(Duration.ofSeconds(10)))
                .build();
        int before = OpenDescriptors.count();
        int failures = 0;
        try (TransferEngine target = TransferEngine.open(options);
                TransferEngine initiator = TransferEngine.open(options)) {
            MemoryRegion served = target.allocate(BYTES, RegionOptions.readWrite());
            MemoryRegion local = initiator.allocate(BYTES, RegionOptions.local());
            for (long seed = first; seed < first + seeds; seed++) {
                try {
                    failures += run(seed, initiator, target, local, served);
                } catch (RuntimeException | AssertionError e) {
                    throw new AssertionError("-Dsluice.test.fault-seed=" + seed + " -Dsluice.test.fault-seeds=1", e);
                }
            }
            Patience.await(served.close());
            Patience.await(local.close());
        }
        OpenDescriptors.assertSettleAt(before);
        System.out.println("BreakingPathTest: seeds " + first + " to " + (first + seeds - 1) + ", "
                + (long) seeds * TRANSFERS + " transfers, " + failures + " failed, each with one signal");
        assertThat(failures).isPositive();
    }

    private static int run(
            long seed, TransferEngine initiator, TransferEngine target, MemoryRegion local, MemoryRegion served) {
        FaultSeed.set(seed);
        Filling.fill(local.segment(), seed);
        Filling.fill(served.segment(), -seed);
        Connection connection = Patience.await(initiator.connect(target.address()));
        RemoteRegion remote = Patience.await(connection.attach(served.descriptor()));
        End[] ends = new End[TRANSFERS];
        for (int i = 0; i < TRANSFERS; i++) {
            End end = new End();
            ends[i] = end;
            long at = (long) i * PIECE;
            try {
                connection.write(
                        local,
                        at,
                        remote,
                        at,
                        PIECE,
                        TransferOptions.defaults(),
                        (transfer, error) -> end.signal(error));
            } catch (SluiceException over) {
                end.signal(over);
            }
        }
        int failed = 0;
        for (int i = 0; i < TRANSFERS; i++) {
            SluiceException error = Patience.await(ends[i].first);
            if (error == null) {
                assertThat(served.segment()
                                .asSlice((long) i * PIECE, PIECE)
                                .mismatch(local.segment().asSlice((long) i * PIECE, PIECE)))
                        .as("the bytes of write %d, which succeeded", i)
                        .isEqualTo(-1);
            } else {
                assertThat(error).isInstanceOf(ConnectionLostException.class);
                failed++;
            }
        }
        Patience.await(connection.close());
        Patience.await(connection.quiesced());
        for (End end : ends) {
            assertThat(end.signals).hasValue(1);
        }
        Patience.until(
                "all credits are back",
                () -> connection.window().operations() == 0
                        && connection.window().bytes() == 0);
        Patience.until("the target has let go", () -> target.connections().isEmpty());
        return failed;
    }
}
