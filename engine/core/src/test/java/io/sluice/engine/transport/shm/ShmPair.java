package io.sluice.engine.transport.shm;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.Connection;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.TransferEngine;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.util.List;
import java.util.function.Consumer;

/** Two engines of this process that are connected by shm, each with a region. */
final class ShmPair implements AutoCloseable {
    private final TransferEngine initiator;
    private final TransferEngine target;
    private final Connection connection;
    private final MemoryRegion local;
    private final MemoryRegion region;
    private final RemoteRegion remote;

    private ShmPair(EngineOptions initiatorOptions, EngineOptions targetOptions, long regionBytes) {
        initiator = TransferEngine.open(initiatorOptions);
        target = TransferEngine.open(targetOptions);
        connection = Patience.await(initiator.connect(target.address()));
        assertThat(connection.transport()).isEqualTo("shm");
        local = initiator.allocate(regionBytes, RegionOptions.local());
        region = target.allocate(regionBytes, RegionOptions.readWrite());
        remote = Patience.await(connection.attach(region.descriptor()));
    }

    static ShmPair open(long regionBytes) {
        return open(ShmOptions.builder(), regionBytes, options -> {});
    }

    static ShmPair open(ShmOptions.Builder shm, long regionBytes, Consumer<EngineOptions.Builder> initiator) {
        EngineOptions target = PatientOptions.builder()
                .transports(List.of("shm"))
                .transport(shm.build())
                .build();
        return new ShmPair(target.toBuilder().with(initiator).build(), target, regionBytes);
    }

    TransferEngine initiator() {
        return initiator;
    }

    TransferEngine target() {
        return target;
    }

    Connection connection() {
        return connection;
    }

    /** The initiator's region. */
    MemoryRegion local() {
        return local;
    }

    /** The target's region. */
    MemoryRegion region() {
        return region;
    }

    /** The target's region as the initiator has attached it. */
    RemoteRegion remote() {
        return remote;
    }

    void assertNothingInFlight() {
        Patience.until(
                "credits come back",
                () -> connection.window().operations() == 0
                        && connection.window().bytes() == 0
                        && initiator.metrics().window().operations() == 0
                        && initiator.metrics().window().bytes() == 0
                        && connection.pending() == 0);
    }

    @Override
    public void close() {
        initiator.close();
        target.close();
    }
}
