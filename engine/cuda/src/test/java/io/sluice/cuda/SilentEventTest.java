package io.sluice.cuda;

import io.sluice.engine.Connection;
import io.sluice.engine.MemoryKind;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransferOptions;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** An event that does not happen ends each connection whose transfers wait behind it, also where others had it first. */
class SilentEventTest {
    private static final int BYTES = 4096;
    private static final Duration LIVENESS = Duration.ofMillis(1500);

    private final List<TransferEngine> engines = new ArrayList<>();
    private final List<Connection> connections = new ArrayList<>();
    private final List<UserStream> streams = new ArrayList<>();
    private MemoryRegion local;

    @BeforeEach
    void load() {
        SoftGpu.load();
        SoftGpu.needQueues();
        SoftGpu.awaitKernels(true);
    }

    @AfterEach
    void close() {
        streams.forEach(UserStream::open);
        // an engine that closes does not wait for those that were lost before
        connections.forEach(connection -> Patience.await(connection.close()));
        engines.forEach(engine -> Patience.await(engine.closeAsync()));
        streams.forEach(UserStream::close);
        SoftGpu.awaitKernels(false);
    }

    private TransferEngine engine(Duration liveness) {
        TransferEngine engine = TransferEngine.open(PatientOptions.builder()
                .transports(List.of("shm", "tcp", "cuda"))
                .livenessTimeout(liveness)
                .build());
        engines.add(engine);
        return engine;
    }

    private RemoteRegion remote(TransferEngine initiator, TransferEngine target) {
        Connection connection = Patience.await(initiator.connect(target.address()));
        connections.add(connection);
        MemoryRegion there = target.allocate(BYTES, RegionOptions.readWrite().on(MemoryKind.CUDA, SoftGpu.id(1)));
        return Patience.await(connection.attach(there.descriptor()));
    }

    private List<CudaEvent> silent(int count) {
        for (int i = 0; i < count; i++) {
            streams.add(new UserStream(0));
        }
        return streams.stream()
                .map(stream -> {
                    stream.gate();
                    return CudaEvent.of(SoftGpu.id(0), stream.record());
                })
                .toList();
    }

    private CompletableFuture<Void> write(RemoteRegion remote, CudaEvent event) {
        CompletableFuture<Void> end = new CompletableFuture<>();
        remote.connection()
                .write(
                        local,
                        0,
                        remote,
                        0,
                        8,
                        TransferOptions.defaults().startAfter(event),
                        (transfer, error) -> Ends.complete(end, error));
        return end;
    }

    /** The streams of both are those of one poller. */
    private List<RemoteRegion> open() {
        TransferEngine initiator = engine(LIVENESS);
        local = initiator.allocate(BYTES, RegionOptions.local().on(MemoryKind.CUDA, SoftGpu.id(0)));
        return List.of(
                remote(initiator, engine(Duration.ofMinutes(1))), remote(initiator, engine(Duration.ofMinutes(1))));
    }

    @Test
    void behind_the_event_of_another_connection() {
        List<RemoteRegion> remotes = open();
        CudaEvent event = silent(1).getFirst();
        CompletableFuture<Void> first = write(remotes.get(0), event);
        CompletableFuture<Void> second = write(remotes.get(1), event);
        Patience.failure(first, SluiceException.class);
        Patience.failure(second, SluiceException.class);
    }

    @Test
    void where_events_of_another_connection_have_all_streams() {
        List<RemoteRegion> remotes = open();
        List<CudaEvent> events = silent(GpuStreams.ORDERED + 1);
        List<CompletableFuture<Void>> ends = new ArrayList<>();
        for (CudaEvent event : events.subList(0, GpuStreams.ORDERED)) {
            ends.add(write(remotes.get(0), event));
        }
        CompletableFuture<Void> held = write(remotes.get(1), events.getLast());
        ends.forEach(end -> Patience.failure(end, SluiceException.class));
        Patience.failure(held, SluiceException.class);
    }
}
