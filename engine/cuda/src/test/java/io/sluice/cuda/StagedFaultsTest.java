package io.sluice.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.Connection;
import io.sluice.engine.ConnectionState;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.MemoryKind;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionMemory;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteAccessException;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.SluiceException;
import io.sluice.engine.Transfer;
import io.sluice.engine.TransferCancelledException;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.TransferTimeoutException;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A GPU does not answer, or refuses, while tcp carries its memory. */
class StagedFaultsTest {
    private static final long RING = 64 << 10;
    private static final int BYTES = 1 << 20;

    private final List<TransferEngine> engines = new ArrayList<>();
    private TransferEngine initiator;
    private TransferEngine target;
    private MemoryRegion onGpu;
    private MemoryRegion onHost;
    private MemoryRegion servedByGpu;
    private MemoryRegion servedByHost;

    @BeforeEach
    void load() {
        SoftGpu.load();
    }

    @AfterEach
    void close() {
        SoftGpu.hang(false);
        SoftGpu.refuseCopies(0, 0);
        engines.forEach(engine -> Patience.await(engine.closeAsync()));
    }

    private TransferEngine engine(EngineOptions.Builder options) {
        TransferEngine engine = TransferEngine.open(options.transports(List.of("tcp", "cuda"))
                .transport(
                        CudaOptions.builder().mapped(false).stagingBytes(RING).build())
                .build());
        engines.add(engine);
        return engine;
    }

    private Connection open(EngineOptions.Builder here, EngineOptions.Builder there) {
        initiator = engine(here);
        target = engine(there);
        onGpu = initiator.allocate(BYTES, RegionOptions.local().on(MemoryKind.CUDA, SoftGpu.id(0)));
        onHost = initiator.allocate(BYTES, RegionOptions.local());
        servedByGpu = target.allocate(BYTES, RegionOptions.readWrite().on(MemoryKind.CUDA, SoftGpu.id(1)));
        servedByHost = target.allocate(BYTES, RegionOptions.readWrite());
        return Patience.await(initiator.connect(target.address()));
    }

    private static RemoteRegion attach(Connection connection, MemoryRegion served) {
        return Patience.await(connection.attach(served.descriptor()));
    }

    private static byte[] random(int seed) {
        byte[] made = new byte[BYTES];
        new Random(seed).nextBytes(made);
        return made;
    }

    /** Bytes of the host go both ways on the lane meanwhile, so that the peer is seen to be alive. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void transfers_of_a_gpu_that_does_not_answer_end_in_time(boolean isSource) {
        SoftGpu.needSoftware("a stream that does nothing");
        Connection connection = open(
                PatientOptions.builder().livenessTimeout(Duration.ofSeconds(2)),
                PatientOptions.builder().livenessTimeout(Duration.ofSeconds(2)));
        RemoteRegion toGpu = attach(connection, servedByGpu);
        RemoteRegion toHost = attach(connection, servedByHost);
        MemoryRegion used = isSource ? onGpu : servedByGpu;
        // the rings are ready
        Patience.await(Ends.write(onGpu, 0, toGpu, 0, BYTES));
        SoftGpu.hang(true);
        CompletableFuture<Void> held =
                isSource ? Ends.write(onGpu, 0, toHost, 0, BYTES) : Ends.write(onHost, 0, toGpu, 0, BYTES);
        Patience.failure(held, SluiceException.class);
        Patience.until("the connection is over", () -> connection.state() == ConnectionState.LOST);
        CompletableFuture<Void> closed = used.close();
        Connection other = Patience.await(initiator.connect(target.address()));
        Patience.await(Ends.write(onHost, 0, attach(other, servedByHost), 0, BYTES));
        assertThat(closed).as("the GPU may still touch the region").isNotDone();
        SoftGpu.hang(false);
        Patience.await(closed);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void a_held_up_transfer_ends_by_its_deadline_or_cancel_and_its_pieces_come_back(boolean cancelled) {
        SoftGpu.needSoftware("a stream that does nothing");
        Connection connection = open(PatientOptions.builder(), PatientOptions.builder());
        RemoteRegion toGpu = attach(connection, servedByGpu);
        Patience.await(Ends.write(onGpu, 0, toGpu, 0, BYTES));
        SoftGpu.hang(true);
        List<CompletableFuture<Void>> ends = new ArrayList<>();
        TransferOptions options = cancelled
                ? TransferOptions.defaults()
                : TransferOptions.defaults().withDeadline(Duration.ofMillis(100));
        for (int i = 0; i < 3; i++) {
            CompletableFuture<Void> end = new CompletableFuture<>();
            Transfer transfer =
                    connection.write(onGpu, 0, toGpu, 0, BYTES, options, (ended, error) -> Ends.complete(end, error));
            if (cancelled) {
                transfer.cancel();
            }
            ends.add(end);
        }
        for (CompletableFuture<Void> end : ends) {
            Class<? extends SluiceException> type =
                    cancelled ? TransferCancelledException.class : TransferTimeoutException.class;
            Patience.failure(end, type);
        }
        CompletableFuture<Void> quiesced = connection.quiesced();
        SoftGpu.hang(false);
        Patience.await(quiesced);
        for (int i = 0; i < 3; i++) {
            byte[] written = random(i);
            SoftGpu.write(0, onGpu.memory().address(), written);
            Patience.await(Ends.write(onGpu, 0, toGpu, 0, BYTES));
            assertThat(Arrays.mismatch(SoftGpu.read(1, servedByGpu.memory().address(), BYTES), written))
                    .isEqualTo(-1);
        }
        assertThat(connection.state()).isEqualTo(ConnectionState.OPEN);
    }

    /** The region closes in the middle of what comes in for it: not a byte is written once that has completed. */
    @Test
    void nothing_is_written_to_a_region_that_has_closed() {
        Connection connection = open(PatientOptions.builder(), PatientOptions.builder());
        RemoteRegion toGpu = attach(connection, servedByGpu);
        long user = SoftGpu.malloc(1, BYTES);
        MemoryRegion registered = target.register(
                RegionMemory.device(MemoryKind.CUDA, SoftGpu.id(1), user, BYTES, () -> true),
                RegionOptions.readWrite().on(MemoryKind.CUDA, SoftGpu.id(1)));
        RemoteRegion remote = attach(connection, registered);
        SoftGpu.write(0, onGpu.memory().address(), random(1));
        for (int i = 0; i < 10; i++) {
            SoftGpu.delay(100_000);
            List<CompletableFuture<Void>> ends = new ArrayList<>();
            for (int j = 0; j < 4; j++) {
                ends.add(Ends.write(onGpu, 0, remote, 0, BYTES));
            }
            Patience.await(registered.close());
            byte[] empty = new byte[BYTES];
            SoftGpu.write(1, user, empty);
            for (CompletableFuture<Void> end : ends) {
                Patience.await(end.handle((done, error) -> done));
            }
            assertThat(Arrays.mismatch(SoftGpu.read(1, user, BYTES), empty)).isEqualTo(-1);
            registered = target.register(
                    RegionMemory.device(MemoryKind.CUDA, SoftGpu.id(1), user, BYTES, () -> true),
                    RegionOptions.readWrite().on(MemoryKind.CUDA, SoftGpu.id(1)));
            remote = attach(connection, registered);
        }
        SoftGpu.delay(0);
        // the lane is in step
        Patience.await(Ends.write(onGpu, 0, toGpu, 0, BYTES));
        Patience.await(registered.close());
        SoftGpu.free(1, user);
    }

    @Test
    void a_copy_that_the_targets_gpu_refuses_fails_its_write_alone() {
        SoftGpu.needSoftware("a copy that the driver refuses");
        Connection connection = open(PatientOptions.builder(), PatientOptions.builder());
        RemoteRegion toGpu = attach(connection, servedByGpu);
        Patience.await(Ends.write(onHost, 0, toGpu, 0, BYTES));
        SoftGpu.refuseCopies(0, 2);
        Patience.failure(Ends.write(onHost, 0, toGpu, 0, 1000), RemoteAccessException.class);
        SoftGpu.refuseCopies(0, 0);
        Patience.await(Ends.write(onHost, 0, toGpu, 0, BYTES));
        assertThat(connection.state()).isEqualTo(ConnectionState.OPEN);
    }
}
