package io.sluice.engine.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.Connection;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.NotificationListener;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.SluiceException;
import io.sluice.engine.Transfer;
import io.sluice.engine.TransferCallback;
import io.sluice.engine.TransferOptions;
import io.sluice.testkit.Patience;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

/** A cancel asked for before quiesced() counts, even if more stands before it than the poller takes at a time. */
class QuiescenceBehindAFullMailboxTest {
    private static final int BYTES = 1 << 20;
    private static final int SUBMISSIONS = 20_000;
    private static final TransferOptions OPTIONS = TransferOptions.defaults();
    private static final TransferCallback IGNORED = (transfer, error) -> {};

    private final CountDownLatch targetStands = new CountDownLatch(1);
    private final CountDownLatch targetMayGoOn = new CountDownLatch(1);

    @Test
    void cancelDeepInTheMailboxIsWaitedFor() throws Exception {
        // a target that stands still sends no signs of life
        try (LinkedEngines engines = new LinkedEngines(
                options -> options.livenessTimeout(Patience.BOUND),
                options -> options.livenessTimeout(Patience.BOUND))) {
            Connection connection = engines.connection();
            MemoryRegion local = engines.local(BYTES);
            RemoteRegion remote = engines.attach(engines.served(BYTES));
            standStill(engines);
            try {
                Transfer read = connection.read(local, 0, remote, 0, BYTES, OPTIONS, IGNORED);
                awaitPosted(connection);
                CompletableFuture<CompletableFuture<Void>> asked = new CompletableFuture<>();
                // its signal comes on the poller's thread, which cannot look at the mailbox meanwhile
                connection
                        .notify(new byte[1], OPTIONS, (transfer, error) -> {
                            for (int i = 0; i < SUBMISSIONS; i++) {
                                connection.write(local, 0, remote, 0, 8, OPTIONS, IGNORED);
                            }
                            read.cancel();
                            asked.complete(connection.quiesced());
                        })
                        .cancel();
                CompletableFuture<Void> quiesced = LinkedEngines.get(asked);
                CompletableFuture<Boolean> quietThen =
                        quiesced.thenApply(nothing -> read.isTerminated() && isDone(read));
                Patience.pause(Duration.ofMillis(100));
                assertThat(quiesced)
                        .as("the target has not answered the read that was cancelled")
                        .isNotDone();
                targetMayGoOn.countDown();
                assertThat(LinkedEngines.get(quietThen)).isTrue();
            } finally {
                targetMayGoOn.countDown();
            }
        }
    }

    private static boolean isDone(Transfer transfer) {
        return transfer.quiesced().isDone();
    }

    /** The target's poller answers nothing until it may go on. */
    private void standStill(LinkedEngines engines) {
        engines.accepted()
                .subscribe(new NotificationListener() {
                    @Override
                    public void notification(byte[] payload) {
                        targetStands.countDown();
                        Patience.await(targetMayGoOn);
                    }

                    @Override
                    public void ended(SluiceException error) {}
                })
                .request(1);
        engines.connection().notify(new byte[1], OPTIONS, IGNORED);
        Patience.await(targetStands);
    }

    private static void awaitPosted(Connection connection) {
        Patience.until("all of it is posted", () -> connection.window().bytes() == BYTES);
    }
}
