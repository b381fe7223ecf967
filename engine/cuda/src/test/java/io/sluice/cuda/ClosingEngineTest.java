package io.sluice.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.engine.Access;
import io.sluice.engine.AtomicDomain;
import io.sluice.engine.Connection;
import io.sluice.engine.ConnectionClosedException;
import io.sluice.engine.MemoryKind;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionMemory;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.transport.AllocatedMemory;
import io.sluice.engine.transport.DeviceWords;
import io.sluice.engine.transport.RegisteredMemory;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** An engine closes while threads of its user are inside calls: what they use of the driver stays until they are through. */
class ClosingEngineTest {
    private static final int BYTES = 4096;
    private static final int ROUNDS = 80;
    private static final int ENGINES = 10;
    private static final Executor THREADS = task -> new Thread(task).start();

    private long address;

    @BeforeEach
    void load() {
        SoftGpu.load();
        address = SoftGpu.malloc(0, BYTES);
    }

    @AfterEach
    void end() {
        SoftGpu.hang(false);
        SoftGpu.free(0, address);
        Patience.until(
                "all is given back",
                () -> SoftGpu.count("allocations") == 0
                        && SoftGpu.count("mappings") == 0
                        && SoftGpu.count("registrations") == 0
                        && SoftGpu.count("modules") == 0
                        && SoftGpu.count("streams") == 0);
    }

    private static CudaTransport transport() {
        return new CudaTransport(CudaOptions.builder().build());
    }

    private static RegionOptions on(int ordinal, RegionOptions options) {
        return options.on(MemoryKind.CUDA, SoftGpu.id(ordinal));
    }

    private static AllocatedMemory allocate(CudaTransport transport, int ordinal) {
        return transport.allocate(BYTES, on(ordinal, RegionOptions.readWrite()));
    }

    private static void free(AllocatedMemory memory) {
        memory.registration().close();
        memory.close();
    }

    private RegionMemory own() {
        return RegionMemory.device(MemoryKind.CUDA, SoftGpu.id(0), address, BYTES, () -> true);
    }

    private static RegisteredMemory register(CudaTransport transport, RegionMemory memory) {
        return transport.register(memory, EnumSet.allOf(Access.class), AtomicDomain.TARGET_CPU);
    }

    @Test
    void a_call_that_waits_for_the_gpu_keeps_what_it_uses() {
        SoftGpu.needSoftware("a stream that does nothing");
        CudaTransport transport = transport();
        SoftGpu.hang(true);
        CompletableFuture<AllocatedMemory> made = CompletableFuture.supplyAsync(() -> allocate(transport, 1), THREADS);
        Patience.until("it clears the memory", () -> SoftGpu.count("registrations") == 1);
        CompletableFuture<Void> closed = CompletableFuture.runAsync(transport::close, THREADS);
        Patience.until("no more calls are let in", () -> {
            try {
                register(transport, own()).close();
                return false;
            } catch (ConnectionClosedException e) {
                return true;
            }
        });
        assertThat(closed).isNotDone();
        assertThat(SoftGpu.count("modules")).isPositive();
        SoftGpu.hang(false);
        AllocatedMemory memory = Patience.await(made);
        Patience.await(closed);
        assertThat(SoftGpu.count("modules")).isZero();
        free(memory);
    }

    @Test
    void memory_outlives_the_engine_that_has_made_it() {
        CudaTransport transport = transport();
        AllocatedMemory memory = allocate(transport, 0);
        DeviceWords words = (DeviceWords) memory.registration();
        words.store(8, 5);
        assertThat(words.load(8)).isEqualTo(5);
        transport.close();
        assertThat(SoftGpu.count("modules")).isZero();
        assertThatThrownBy(() -> words.load(8))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("closed");
        DeviceRegistration registration = (DeviceRegistration) memory.registration();
        assertThatThrownBy(registration::descriptor)
                .isInstanceOf(CudaException.class)
                .hasMessageContaining("closed");
        assertThatThrownBy(() -> allocate(transport, 0)).isInstanceOf(ConnectionClosedException.class);
        assertThatThrownBy(() -> register(transport, own())).isInstanceOf(ConnectionClosedException.class);
        free(memory);
    }

    /** Until the transport is closed: makes memory, uses its words and gives it back, the last after that. */
    private void use(CudaTransport transport, Random random, CountDownLatch begun) {
        AllocatedMemory last = null;
        try {
            while (true) {
                if (random.nextBoolean()) {
                    register(transport, own()).close();
                } else {
                    AllocatedMemory made = allocate(transport, random.nextInt(2));
                    if (last != null) {
                        free(last);
                    }
                    last = made;
                    ((DeviceWords) made.registration()).fetchAdd(8, 1);
                }
                begun.countDown();
            }
        } catch (ConnectionClosedException | IllegalStateException closed) {
            begun.countDown();
        }
        if (last != null) {
            free(last);
        }
    }

    @Test
    void threads_that_make_and_free_memory_race_a_closing_transport() {
        Random random = new Random(2);
        for (int round = 0; round < SoftGpu.rounds(ROUNDS); round++) {
            CudaTransport transport = transport();
            CountDownLatch begun = new CountDownLatch(random.nextInt(1, 6));
            List<CompletableFuture<Void>> users = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                Random own = new Random(random.nextLong());
                users.add(CompletableFuture.runAsync(() -> use(transport, own, begun), THREADS));
            }
            Patience.await(begun);
            transport.close();
            users.forEach(Patience::await);
        }
    }

    @Test
    void attaching_and_registering_race_a_closing_engine() {
        for (int round = 0; round < SoftGpu.rounds(ENGINES); round++) {
            TransferEngine initiator = engine();
            TransferEngine target = engine();
            Connection connection = Patience.await(initiator.connect(target.address()));
            MemoryRegion there = target.allocate(BYTES, on(round % 2, RegionOptions.readWrite()));
            CompletableFuture<Void> users = CompletableFuture.runAsync(() -> useEngine(initiator), THREADS);
            CompletableFuture<Void> attached = connection
                    .attach(there.descriptor())
                    .handle((remote, error) -> {
                        // typed, if it has failed
                        assertThat(error == null || error instanceof SluiceException)
                                .isTrue();
                        return null;
                    });
            CompletableFuture<Void> closed = initiator.closeAsync();
            CompletableFuture<Void> both = target.closeAsync();
            Patience.await(attached);
            Patience.await(users);
            Patience.await(closed);
            Patience.await(both);
        }
    }

    private static void useEngine(TransferEngine engine) {
        try {
            while (true) {
                engine.allocate(BYTES, on(0, RegionOptions.local())).close();
            }
        } catch (ConnectionClosedException closed) {
            // as it should be
        }
    }

    private static TransferEngine engine() {
        return TransferEngine.open(PatientOptions.builder()
                .transports(List.of("shm", "tcp", "cuda"))
                .build());
    }
}
