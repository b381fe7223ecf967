package io.sluice.vertx;

import io.sluice.engine.EngineOptions;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.TransferEngine;
import io.vertx.core.json.JsonObject;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;

/** A plain engine at the other end, with a region that peers may read and write. */
final class Target implements AutoCloseable {
    static final int REGION_BYTES = 16 << 20;

    final TransferEngine engine;
    final MemoryRegion region;

    Target(String transport, Consumer<EngineOptions.Builder> more) {
        this.engine = TransferEngine.open(EngineOptions.builder()
                .transports(List.of(transport))
                .with(more)
                .build());
        this.region = engine.allocate(REGION_BYTES, RegionOptions.readWrite().named("pool"));
    }

    Target(String transport) {
        this(transport, options -> {});
    }

    /** Options for a client that reaches it. */
    static TransferClientOptions clientOptions(String transport) {
        return new TransferClientOptions(new JsonObject())
                .setTransports(List.of(transport))
                .setListenHost(null);
    }

    /** Options with a small window and quick ends. */
    static TransferClientOptions clientOptions(String transport, int window) {
        TransferClientOptions options = clientOptions(transport);
        return options.setEngineOptions(options.getEngineOptions().toBuilder()
                .windowOperations(window)
                .livenessTimeout(Duration.ofSeconds(5))
                .build());
    }

    /** Connects a client and attaches the region. */
    Attached attach(TransferClient client) throws Exception {
        TransferConnection connection = Bounded.await(client.connect(engine.address()));
        return new Attached(connection, Bounded.await(connection.attach(region.descriptor())));
    }

    byte at(long offset) {
        return region.segment().get(ValueLayout.JAVA_BYTE, offset);
    }

    record Attached(TransferConnection connection, RemoteRegion remote) {}

    @Override
    public void close() {
        engine.close();
    }
}
