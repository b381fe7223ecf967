package io.sluice.engine.session;

import io.sluice.engine.Connection;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferCallback;
import io.sluice.engine.TransferEngine;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** Two engines of this process and a connection between them, both of whose sides are at hand. */
public final class LinkedEngines implements AutoCloseable {
    private final TransferEngine initiator;
    private final TransferEngine target;
    private final Connection connection;
    private final Connection accepted;

    public LinkedEngines(
            Consumer<EngineOptions.Builder> initiatorOptions, Consumer<EngineOptions.Builder> targetOptions)
            throws Exception {
        initiator = open(initiatorOptions);
        target = open(targetOptions);
        CompletableFuture<Connection> acceptedOnce = new CompletableFuture<>();
        target.onConnection(acceptedOnce::complete);
        connection = get(initiator.connect(target.address()));
        accepted = get(acceptedOnce);
    }

    public static TransferEngine open(Consumer<EngineOptions.Builder> options) {
        return TransferEngine.open(PatientOptions.builder()
                .transports(List.of("tcp"))
                .with(options)
                .build());
    }

    /** A wait that ends. */
    public static <T> T get(CompletionStage<T> stage) throws Exception {
        return stage.toCompletableFuture().get(Patience.BOUND.toNanos(), TimeUnit.NANOSECONDS);
    }

    /** The terminal signal, as a future: empty is success. */
    public static TransferCallback into(CompletableFuture<Optional<SluiceException>> end) {
        return (transfer, error) -> end.complete(Optional.ofNullable(error));
    }

    public TransferEngine target() {
        return target;
    }

    Connection connection() {
        return connection;
    }

    Connection accepted() {
        return accepted;
    }

    MemoryRegion local(long bytes) {
        return initiator.allocate(bytes, RegionOptions.local());
    }

    MemoryRegion served(long bytes) {
        return target.allocate(bytes, RegionOptions.readWrite());
    }

    RemoteRegion attach(MemoryRegion region) throws Exception {
        return get(connection.attach(region.descriptor()));
    }

    @Override
    public void close() throws Exception {
        get(CompletableFuture.allOf(initiator.closeAsync(), target.closeAsync()));
    }
}
