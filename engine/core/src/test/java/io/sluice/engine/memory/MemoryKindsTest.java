package io.sluice.engine.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.engine.Connection;
import io.sluice.engine.ConnectionState;
import io.sluice.engine.MemoryKind;
import io.sluice.engine.MemoryNotAccessibleException;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionDescriptor;
import io.sluice.engine.RegionMemory;
import io.sluice.engine.RegionNotFoundException;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RegistrationException;
import io.sluice.engine.RemoteAccessException;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.TransferCallback;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransferOptions;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Memory that the processor cannot touch is known by its address, and nothing of the engine goes there. */
class MemoryKindsTest {
    private static final String GPU = "GPU-8c7a1d2e-0000-0000-0000-000000000001";
    private static final long BYTES = 4096;
    private static final RegionOptions ON_GPU = RegionOptions.readWrite().on(MemoryKind.CUDA, GPU);

    private final List<TransferEngine> engines = new ArrayList<>();

    @AfterEach
    void close() {
        engines.forEach(engine -> Patience.await(engine.closeAsync()));
    }

    private TransferEngine engine(String... transports) {
        TransferEngine engine = TransferEngine.open(
                PatientOptions.builder().transports(List.of(transports)).build());
        engines.add(engine);
        return engine;
    }

    private TransferEngine both() {
        return engine("tcp", UntouchedMemoryTransportProvider.NAME);
    }

    private TransferEngine untouched() {
        return engine(UntouchedMemoryTransportProvider.NAME);
    }

    @Test
    void memoryOfTheHostIsTheDefault() {
        MemoryRegion region = both().allocate(BYTES, RegionOptions.readWrite());
        assertThat(region.kind()).isEqualTo(MemoryKind.HOST);
        assertThat(region.memory().segment()).isEqualTo(region.segment());
        assertThat(region.memory().address()).isEqualTo(region.segment().address());
        MemoryRegion slice = region.slice(64, 128);
        assertThat(slice.memory().address()).isEqualTo(region.memory().address() + 64);
        assertThat(slice.memory().length()).isEqualTo(128);
    }

    @Test
    void aRegionOfADeviceIsKnownByItsAddress() {
        MemoryRegion region = both().allocate(BYTES, ON_GPU);
        assertThat(region.kind()).isEqualTo(MemoryKind.CUDA);
        assertThat(region.length()).isEqualTo(BYTES);
        assertThat(region.memory().device()).isEqualTo(GPU);
        assertThat(region.descriptor().kind()).isEqualTo(MemoryKind.CUDA);
        assertThat(RegionDescriptor.fromBytes(region.descriptor().toBytes())).isEqualTo(region.descriptor());
        MemoryRegion slice = region.slice(1024, 1024);
        assertThat(slice.kind()).isEqualTo(MemoryKind.CUDA);
        assertThat(slice.memory().address()).isEqualTo(region.memory().address() + 1024);
        for (MemoryRegion each : List.of(region, slice)) {
            assertThatThrownBy(each::segment)
                    .isInstanceOf(MemoryNotAccessibleException.class)
                    .hasMessageContaining("memory()");
            assertThatThrownBy(() -> each.signal(0)).isInstanceOf(MemoryNotAccessibleException.class);
            assertThatThrownBy(() -> each.checksum(0, 8)).isInstanceOf(MemoryNotAccessibleException.class);
        }
        RegionMemory memory = region.memory();
        Patience.await(region.close());
        assertThat(memory.isAlive()).isFalse();
    }

    @Test
    void whatNoTransportTakesIsRefusedByNames() {
        TransferEngine engine = engine("tcp");
        assertThatThrownBy(() -> engine.allocate(BYTES, ON_GPU))
                .isInstanceOf(RegistrationException.class)
                .hasMessageContaining("CUDA")
                .hasMessageContaining(GPU)
                .hasMessageContaining("tcp");
        RegionMemory memory = RegionMemory.device(MemoryKind.CUDA, GPU, 8, BYTES, () -> true);
        assertThatThrownBy(() -> engine.register(memory, RegionOptions.local()))
                .isInstanceOf(RegistrationException.class)
                .hasMessageContaining("CUDA")
                .hasMessageContaining("tcp");
        assertThat(engine.regions()).isEmpty();
    }

    @Test
    void freedMemoryIsNotRegistered() {
        RegionMemory freed = RegionMemory.device(MemoryKind.CUDA, GPU, 8, BYTES, () -> false);
        assertThatThrownBy(() -> both().register(freed, RegionOptions.local()))
                .isInstanceOf(RegistrationException.class)
                .hasMessageContaining("freed");
    }

    @Test
    void aTransportThatDoesNotReachTheKindRefusesToAttach() {
        TransferEngine target = both();
        MemoryRegion region = target.allocate(BYTES, ON_GPU);
        MemoryRegion host = target.allocate(BYTES, RegionOptions.readWrite());
        Connection connection = Patience.await(engine("tcp").connect(target.address()));
        assertThat(connection.transport()).isEqualTo("tcp");
        assertThat(Patience.failure(connection.attach(region.descriptor()), MemoryNotAccessibleException.class))
                .hasMessageContaining("CUDA")
                .hasMessageContaining("transport");
        Patience.await(connection.attach(host.descriptor()));
        MemoryRegion named = target.allocate(BYTES, ON_GPU.named("pages"));
        Patience.failure(connection.lookup("pages"), RegionNotFoundException.class);
        assertThat(named.isOpen()).isTrue();
    }

    @Test
    void aTransportThatDoesNotAccessTheKindTransfersNothingOfIt() {
        TransferEngine target = untouched();
        TransferEngine initiator = untouched();
        MemoryRegion local = initiator.allocate(BYTES, RegionOptions.local().on(MemoryKind.CUDA, GPU));
        MemoryRegion host = target.allocate(BYTES, RegionOptions.readWrite());
        Connection connection = Patience.await(initiator.connect(target.address()));
        RemoteRegion remote = Patience.await(connection.attach(host.descriptor()));
        assertThatThrownBy(() ->
                        connection.write(local, 0, remote, 0, 8, TransferOptions.defaults(), (transfer, error) -> {}))
                .isInstanceOf(MemoryNotAccessibleException.class)
                .hasMessageContaining(UntouchedMemoryTransportProvider.NAME)
                .hasMessageContaining("host memory");
        assertThatThrownBy(() ->
                        connection.read(local, 0, remote, 0, 8, TransferOptions.defaults(), (transfer, error) -> {}))
                .isInstanceOf(MemoryNotAccessibleException.class);
    }

    /** The peer refuses operations that its processor would have to execute, and the connection stays up. */
    @Test
    void aPeersProcessorDoesNotTouchTheKind() {
        TransferEngine target = untouched();
        TransferEngine initiator = untouched();
        MemoryRegion region = target.allocate(BYTES, ON_GPU);
        Connection connection = Patience.await(initiator.connect(target.address()));
        RemoteRegion remote = Patience.await(connection.attach(region.descriptor()));
        assertThat(Patience.failure(connection.checksum(remote, 0, 8), RemoteAccessException.class)
                        .reason())
                .isEqualTo(RemoteAccessException.Reason.UNSUPPORTED);
        MemoryRegion local = initiator.allocate(BYTES, RegionOptions.local());
        assertUnsupported(end -> connection.write(local, 0, remote, 0, 8, TransferOptions.defaults(), end));
        assertUnsupported(end -> connection.read(local, 0, remote, 0, BYTES, TransferOptions.defaults(), end));
        assertUnsupported(end -> connection.put(remote, 0, 1, 8, TransferOptions.defaults(), end));
        assertUnsupported(end -> connection.fetchAdd(
                remote, 0, 1, TransferOptions.defaults(), (transfer, value, error) -> end.terminated(transfer, error)));
        MemoryRegion host = target.allocate(BYTES, RegionOptions.readWrite());
        Patience.await(connection.attach(host.descriptor()));
        assertThat(connection.state()).isEqualTo(ConnectionState.OPEN);
    }

    private static void assertUnsupported(Consumer<TransferCallback> operation) {
        CompletableFuture<Void> end = new CompletableFuture<>();
        operation.accept((transfer, error) -> {
            if (error == null) {
                end.complete(null);
            } else {
                end.completeExceptionally(error);
            }
        });
        assertThat(Patience.failure(end, RemoteAccessException.class).reason())
                .isEqualTo(RemoteAccessException.Reason.UNSUPPORTED);
    }
}
