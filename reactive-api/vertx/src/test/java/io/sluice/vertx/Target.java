package io.sluice.vertx;

import io.sluice.engine.EngineOptions;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.TransferEngine;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
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
        this.engine = TransferEngine.open(patient(EngineOptions.builder())
                .transports(List.of(transport))
                .with(more)
                .build());
        this.region = engine.allocate(REGION_BYTES, RegionOptions.readWrite().named("pool"));
    }

    Target(String transport) {
        this(transport, options -> {});
    }

    /** A peer that gets no processor for a while is not given up. */
    static EngineOptions.Builder patient(EngineOptions.Builder options) {
        return PatientOptions.patient(options).livenessTimeout(Patience.BOUND);
    }

    /** Options for a client that reaches it. */
    static TransferClientOptions clientOptions(String transport) {
        return new TransferClientOptions()
                .configureEngine(
                        engine -> patient(engine).transports(List.of(transport)).noListener());
    }

    /** Options with a small window. */
    static TransferClientOptions clientOptions(String transport, int window) {
        return clientOptions(transport).configureEngine(engine -> engine.windowOperations(window));
    }

    /** The same for a client whose peer is going to be silent: it soon gives it up. */
    static TransferClientOptions quick(TransferClientOptions options) {
        return options.configureEngine(engine -> engine.livenessTimeout(Patience.scaled(Duration.ofSeconds(3))));
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
