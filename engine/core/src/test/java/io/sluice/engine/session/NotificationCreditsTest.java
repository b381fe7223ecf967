package io.sluice.engine.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.Connection;
import io.sluice.engine.ConnectionState;
import io.sluice.engine.NotificationListener;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TooManyPendingException;
import io.sluice.engine.TransferCallback;
import io.sluice.engine.TransferOptions;
import io.sluice.testkit.Patience;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Notifications wait for room and credits, and what waits is bounded. */
class NotificationCreditsTest {
    private static final TransferOptions OPTIONS = TransferOptions.defaults();
    private static final TransferCallback IGNORED = (transfer, error) -> {};

    @Test
    void moreCreditsThanTheControlChannelHoldsAtOnce() throws Exception {
        int count = 1_500;
        try (LinkedEngines engines = new LinkedEngines(options -> {}, options -> options.notificationCredits(4096))) {
            Connection connection = engines.connection();
            AtomicInteger taken = new AtomicInteger();
            engines.accepted()
                    .subscribe(new NotificationListener() {
                        @Override
                        public void notification(byte[] payload) {
                            taken.incrementAndGet();
                        }

                        @Override
                        public void ended(SluiceException error) {}
                    })
                    .request(Long.MAX_VALUE);
            byte[] payload = new byte[64 << 10];
            ConcurrentHashMap<String, Integer> errors = new ConcurrentHashMap<>();
            CountDownLatch ended = new CountDownLatch(count);
            TransferCallback signal = (transfer, error) -> {
                if (error != null) {
                    errors.merge(error.toString(), 1, Integer::sum);
                }
                ended.countDown();
            };
            // from a callback, so that all are there before the first can leave
            connection.notify(new byte[1], OPTIONS, (transfer, error) -> {
                for (int i = 0; i < count; i++) {
                    connection.notify(payload, OPTIONS, signal);
                }
            });
            Patience.await(ended);
            assertThat(errors).isEmpty();
            assertThat(connection.state()).isEqualTo(ConnectionState.OPEN);
            Patience.until("all are taken", () -> taken.get() >= count);
        }
    }

    /** Notifications that the listener got are acknowledged before the goodbye, so that the sender knows of their delivery. */
    @Test
    void whatAReceiverThatClosesHasTakenIsAcknowledged() throws Exception {
        try (LinkedEngines engines = new LinkedEngines(options -> {}, options -> {})) {
            Connection accepted = engines.accepted();
            accepted.subscribe(new NotificationListener() {
                        @Override
                        public void notification(byte[] payload) {
                            if (payload.length > 0) {
                                // another thread does so in the duty cycle at whose end it is acknowledged
                                Patience.join(Thread.ofPlatform().start(accepted::close));
                            }
                        }

                        @Override
                        public void ended(SluiceException error) {}
                    })
                    .request(Long.MAX_VALUE);
            // the listener is there by now
            assertThat(notify(engines.connection(), new byte[0])).isEmpty();
            assertThat(notify(engines.connection(), new byte[1])).isEmpty();
        }
    }

    private static Optional<SluiceException> notify(Connection connection, byte[] payload) throws Exception {
        CompletableFuture<Optional<SluiceException>> end = new CompletableFuture<>();
        connection.notify(payload, OPTIONS, LinkedEngines.into(end));
        return LinkedEngines.get(end);
    }

    @Test
    void cancelledOnesBehindOneThatWaitsCountAsPending() throws Exception {
        int maxPending = 100;
        try (LinkedEngines engines = new LinkedEngines(
                options -> options.maxPending(maxPending), options -> options.notificationCredits(1))) {
            Connection connection = engines.connection();
            // the listener takes none, so the first uses the credit up and the second waits
            connection.notify(new byte[1], OPTIONS, IGNORED);
            connection.notify(new byte[1], OPTIONS, IGNORED);
            int refused = 0;
            for (int i = 0; i < 10 * maxPending; i++) {
                try {
                    connection.notify(new byte[1024], OPTIONS, IGNORED).cancel();
                } catch (TooManyPendingException e) {
                    refused++;
                }
                if (i % maxPending == 0) {
                    LinkedEngines.get(connection.quiesced());
                }
            }
            LinkedEngines.get(connection.quiesced());
            assertThat(refused).isBetween(9 * maxPending, 10 * maxPending - 1);
            assertThat(connection.pending()).isLessThanOrEqualTo(maxPending);

            // once the credit comes back, all that was kept goes
            engines.accepted()
                    .subscribe(new NotificationListener() {
                        @Override
                        public void notification(byte[] payload) {}

                        @Override
                        public void ended(SluiceException error) {}
                    })
                    .request(Long.MAX_VALUE);
            Patience.until("nothing is pending", () -> connection.pending() == 0);
        }
    }
}
