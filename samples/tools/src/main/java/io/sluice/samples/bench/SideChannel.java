package io.sluice.samples.bench;

import io.sluice.engine.Connection;
import io.sluice.engine.EngineAddress;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferCallback;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransferOptions;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A further connection, which is not measured: moves bytes there and back, and asks for reports. */
final class SideChannel implements AutoCloseable {
    private final Connection connection;
    private final RemoteRegion remote;
    private final ReportClient reports;

    private SideChannel(Connection connection, RemoteRegion remote) {
        this.connection = connection;
        this.remote = remote;
        this.reports = ReportClient.on(connection);
    }

    static SideChannel open(TransferEngine engine, EngineAddress address, String region) {
        Connection connection = Waiting.await(engine.connect(address), "connecting");
        return new SideChannel(connection, attach(connection, region));
    }

    static RemoteRegion attach(Connection connection, String region) {
        return Waiting.await(connection.lookup(region).thenCompose(connection::attach), "attaching the region");
    }

    RemoteRegion remote() {
        return remote;
    }

    int maxNotificationBytes() {
        return connection.maxNotificationBytes();
    }

    ReportClient.@Nullable ServerReport report() {
        return reports.ask();
    }

    /** Writes a whole region to the beginning of the peer's. */
    void write(MemoryRegion from) {
        write(from, 0, 0, from.length());
    }

    /** Writes a part of a region into the peer's. */
    void write(MemoryRegion from, long offset, long remoteOffset, long length) {
        transfer(
                callback -> connection.write(
                        from, offset, remote, remoteOffset, length, TransferOptions.defaults(), callback),
                "a write");
    }

    /** Reads a part of the peer's region. */
    void read(MemoryRegion to, long offset, long remoteOffset, long length) {
        transfer(
                callback ->
                        connection.read(to, offset, remote, remoteOffset, length, TransferOptions.defaults(), callback),
                "a read");
    }

    private static void transfer(Consumer<TransferCallback> submission, String what) {
        CompletableFuture<Boolean> ended = new CompletableFuture<>();
        submission.accept((transfer, error) -> end(ended, error));
        Waiting.await(ended, what);
    }

    private static void end(CompletableFuture<Boolean> ended, @Nullable SluiceException error) {
        if (error == null) {
            ended.complete(true);
        } else {
            ended.completeExceptionally(error);
        }
    }

    @Override
    public void close() {
        connection.close();
    }
}
