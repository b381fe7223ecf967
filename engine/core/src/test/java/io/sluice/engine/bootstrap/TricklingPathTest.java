package io.sluice.engine.bootstrap;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.Connection;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.SluiceException;
import io.sluice.engine.Transfer;
import io.sluice.engine.TransferCallback;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.TransferTimeoutException;
import io.sluice.engine.session.LinkedEngines;
import io.sluice.testkit.Patience;
import io.sluice.testkit.SteadyRounds;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Memory comes back long before the rest has arrived, even while a lane moves just enough to count as alive. */
class TricklingPathTest {
    private static final Duration LIVENESS = Duration.ofMillis(800);
    // at 200 kB/s the whole would take almost three minutes
    private static final int BYTES = 32 << 20;

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void regionsCloseAfterATimeout(boolean write) throws Exception {
        SteadyRounds.run(LIVENESS, liveness -> {
            TransferEngine target = open(liveness);
            TransferEngine initiator = open(liveness);
            try (TricklingPath path = new TricklingPath(target)) {
                Connection connection = LinkedEngines.get(initiator.connect(path.address()));
                MemoryRegion local = initiator.allocate(BYTES, RegionOptions.local());
                MemoryRegion served = target.allocate(BYTES, RegionOptions.readWrite());
                RemoteRegion remote = LinkedEngines.get(connection.attach(served.descriptor()));
                TransferOptions options = TransferOptions.defaults().withDeadline(Duration.ofMillis(500));
                CompletableFuture<Optional<SluiceException>> end = new CompletableFuture<>();
                CompletableFuture<Boolean> quietAtOnce = new CompletableFuture<>();
                TransferCallback callback = (ended, error) -> {
                    quietAtOnce.complete(ended.quiesced().isDone());
                    end.complete(Optional.ofNullable(error));
                };
                Transfer transfer = write
                        ? connection.write(local, 0, remote, 0, BYTES, options, callback)
                        : connection.read(local, 0, remote, 0, BYTES, options, callback);
                assertThat(LinkedEngines.get(end)).containsInstanceOf(TransferTimeoutException.class);
                assertThat(LinkedEngines.get(quietAtOnce))
                        .as("nothing is still posted")
                        .isFalse();

                LinkedEngines.get(CompletableFuture.allOf(transfer.quiesced(), local.close(), served.close()));
                assertThat(path.passed()).as("it did not wait for the trickle").isLessThan(BYTES);
            } finally {
                LinkedEngines.get(CompletableFuture.allOf(initiator.closeAsync(), target.closeAsync()));
            }
        });
    }

    /** Without a time-out of the transfer it is the closing of its region that must not wait for the trickle. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void regionsCloseWhileATransferGoesOn(boolean write) throws Exception {
        SteadyRounds.run(LIVENESS, liveness -> {
            TransferEngine target = open(liveness);
            TransferEngine initiator = open(liveness);
            try (TricklingPath path = new TricklingPath(target)) {
                Connection connection = LinkedEngines.get(initiator.connect(path.address()));
                MemoryRegion local = initiator.allocate(BYTES, RegionOptions.local());
                MemoryRegion served = target.allocate(BYTES, RegionOptions.readWrite());
                RemoteRegion remote = LinkedEngines.get(connection.attach(served.descriptor()));
                CompletableFuture<Optional<SluiceException>> end = new CompletableFuture<>();
                TransferCallback callback = LinkedEngines.into(end);
                if (write) {
                    connection.write(local, 0, remote, 0, BYTES, TransferOptions.defaults(), callback);
                } else {
                    connection.read(local, 0, remote, 0, BYTES, TransferOptions.defaults(), callback);
                }
                Patience.until("it trickles", () -> path.passed() > 50_000);
                LinkedEngines.get(CompletableFuture.allOf(local.close(), served.close()));
                assertThat(LinkedEngines.get(end)).isPresent();
                assertThat(path.passed()).as("it did not wait for the trickle").isLessThan(BYTES);
            } finally {
                LinkedEngines.get(CompletableFuture.allOf(initiator.closeAsync(), target.closeAsync()));
            }
        });
    }

    private static TransferEngine open(Duration liveness) {
        return LinkedEngines.open(options -> options.livenessTimeout(liveness).socketBufferBytes(64 << 10));
    }
}
