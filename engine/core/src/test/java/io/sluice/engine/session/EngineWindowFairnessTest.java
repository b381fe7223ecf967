package io.sluice.engine.session;

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
import io.sluice.testkit.Patience;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/**
 * A connection that needs much of the engine's window gets its turn, though others that need little take the credits
 * that return.
 */
class EngineWindowFairnessTest {
    private static final TransferOptions OPTIONS = TransferOptions.defaults();
    private static final int WINDOW_BYTES = 1 << 20;
    // a chunk of it is an eighth of the window
    private static final int LARGE = 8 << 20;
    private static final int SMALL = 16 << 10;
    private static final int FLOODING = 6;
    // of each connection: together they could fill the window several times
    private static final int SMALL_AT_ONCE = 40;

    @Test
    void largeChunksAmongFloodsOfSmallOnes() throws Exception {
        TransferEngine target = LinkedEngines.open(options -> {});
        TransferEngine initiator =
                LinkedEngines.open(options -> options.pollers(2).engineWindowBytes(WINDOW_BYTES));
        AtomicBoolean flooding = new AtomicBoolean(true);
        AtomicInteger smallEnded = new AtomicInteger();
        AtomicReference<SluiceException> smallError = new AtomicReference<>();
        try {
            MemoryRegion local = initiator.allocate(LARGE, RegionOptions.local());
            MemoryRegion served = target.allocate(LARGE, RegionOptions.readWrite());
            for (int i = 0; i < FLOODING; i++) {
                Connection connection = LinkedEngines.get(initiator.connect(target.address()));
                RemoteRegion remote = LinkedEngines.get(connection.attach(served.descriptor()));
                TransferCallback again = new TransferCallback() {
                    @Override
                    public void terminated(Transfer transfer, SluiceException error) {
                        smallEnded.incrementAndGet();
                        if (error != null) {
                            smallError.compareAndSet(null, error);
                        } else if (flooding.get()) {
                            connection.write(local, 0, remote, 0, SMALL, OPTIONS, this);
                        }
                    }
                };
                for (int k = 0; k < SMALL_AT_ONCE; k++) {
                    connection.write(local, 0, remote, 0, SMALL, OPTIONS, again);
                }
            }
            List<Connection> both = new ArrayList<>();
            for (int i = 0; i < 2; i++) {
                both.add(LinkedEngines.get(initiator.connect(target.address())));
            }
            for (int round = 0; round < 5; round++) {
                for (Connection connection : both) {
                    RemoteRegion remote = LinkedEngines.get(connection.attach(served.descriptor()));
                    CompletableFuture<Optional<SluiceException>> end = new CompletableFuture<>();
                    connection.write(local, 0, remote, 0, LARGE, OPTIONS, LinkedEngines.into(end));
                    assertThat(LinkedEngines.get(end)).isEmpty();
                }
            }
            int then = smallEnded.get();
            Patience.until("the small ones go on as well", () -> smallEnded.get() > then);
            assertThat(smallError).hasValue(null);
            assertThat(initiator.metrics().window().maxBytesSeen()).isLessThanOrEqualTo(WINDOW_BYTES);
        } finally {
            flooding.set(false);
            LinkedEngines.get(CompletableFuture.allOf(initiator.closeAsync(), target.closeAsync()));
        }
    }
}
