package io.sluice.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.testkit.OpenDescriptors;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** An engine closes everything that it opens. */
class EngineLifecycleTest {
    private static final int ENGINES = 200;
    private static final EngineOptions OPTIONS =
            PatientOptions.builder().transports(List.of("tcp")).pollers(2).build();

    private static long threads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith("sluice-"))
                .count();
    }

    private static void assertNothingIsLeft(long threadsBefore, int descriptorsBefore) {
        Patience.until("threads have ended", () -> threads() <= threadsBefore);
        OpenDescriptors.assertSettleAt(descriptorsBefore);
    }

    @Test
    void enginesOneAfterTheOtherLeaveNothing() {
        TransferEngine.open(OPTIONS).close();
        long threads = threads();
        int descriptors = OpenDescriptors.count();
        for (int i = 0; i < ENGINES; i++) {
            TransferEngine engine = TransferEngine.open(OPTIONS);
            engine.allocate(1 << 20, RegionOptions.readWrite());
            engine.close();
        }
        assertNothingIsLeft(threads, descriptors);
    }

    @Test
    void connectedEnginesLeaveNothing() {
        long threads = threads();
        int descriptors = OpenDescriptors.count();
        for (int i = 0; i < ENGINES / 4; i++) {
            TransferEngine target = TransferEngine.open(OPTIONS);
            TransferEngine initiator = TransferEngine.open(OPTIONS);
            Connection connection = Patience.await(initiator.connect(target.address()));
            MemoryRegion local = initiator.allocate(1 << 20, RegionOptions.local());
            RemoteRegion remote = Patience.await(connection.attach(
                    target.allocate(1 << 20, RegionOptions.readWrite()).descriptor()));
            CompletableFuture<Void> ended = new CompletableFuture<>();
            connection.write(
                    local,
                    0,
                    remote,
                    0,
                    1 << 20,
                    TransferOptions.defaults(),
                    (transfer, error) -> ended.complete(null));
            // In every order, and in the middle of a transfer.
            List<TransferEngine> both = i % 2 == 0 ? List.of(target, initiator) : List.of(initiator, target);
            if (i % 4 < 2) {
                both.forEach(TransferEngine::close);
            } else {
                both.stream().map(TransferEngine::closeAsync).toList().forEach(Patience::await);
            }
            Patience.await(ended);
        }
        assertNothingIsLeft(threads, descriptors);
    }

    @Test
    void connectionsThatComeAndGoLeaveNothing() {
        try (TransferEngine target = TransferEngine.open(OPTIONS);
                TransferEngine initiator = TransferEngine.open(OPTIONS)) {
            Patience.await(Patience.await(initiator.connect(target.address())).close());
            Patience.until("the target has noticed", () -> target.connections().isEmpty());
            int descriptors = OpenDescriptors.count();
            for (int i = 0; i < ENGINES; i++) {
                Patience.await(
                        Patience.await(initiator.connect(target.address())).close());
            }
            Patience.until("the target has noticed", () -> target.connections().isEmpty());
            OpenDescriptors.assertSettleAt(descriptors);
            assertThat(initiator.connections()).isEmpty();
        }
    }

    @Test
    void failedConnectsLeaveNothing() {
        EngineAddress closed;
        try (TransferEngine gone = TransferEngine.open(OPTIONS)) {
            closed = gone.address();
        }
        EngineOptions impatient =
                OPTIONS.toBuilder().connectTimeout(Patience.BOUND).build();
        try (TransferEngine engine = TransferEngine.open(impatient)) {
            int descriptors = OpenDescriptors.count();
            for (int i = 0; i < ENGINES; i++) {
                Patience.failure(engine.connect(closed), ConnectFailedException.class);
            }
            OpenDescriptors.assertSettleAt(descriptors);
        }
    }

    @Test
    void closingTwiceIsClosingOnce() {
        TransferEngine engine = TransferEngine.open(OPTIONS);
        CompletableFuture<Void> first = engine.closeAsync();
        engine.close();
        Patience.await(engine.closeAsync());
        Patience.await(first);
        assertThat(Patience.failure(engine.connect(EngineAddress.of("127.0.0.1", 1)), ConnectionClosedException.class))
                .hasMessageContaining(engine.id().toString());
    }
}
