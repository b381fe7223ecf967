package io.sluice.samples.bench;

import io.sluice.engine.Connection;
import io.sluice.engine.NotificationListener;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferOptions;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** Asks the serving process for reports, over one connection. Not for pollers. */
final class ReportClient {

    private static final Duration PATIENCE = Duration.ofSeconds(5);

    private final Connection connection;
    private volatile CompletableFuture<ServerReport> awaited = new CompletableFuture<>();
    private boolean silent;

    private ReportClient(Connection connection) {
        this.connection = connection;
    }

    /** On a connection without a listener. */
    static ReportClient on(Connection connection) {
        ReportClient client = new ReportClient(connection);
        NotificationSink sink = client::received;
        connection.subscribe(sink).request(Long.MAX_VALUE);
        return client;
    }

    private void received(byte[] payload) {
        ServerReport report = ServerReport.fromBytes(payload);
        if (report != null) {
            awaited.complete(report);
        }
    }

    /** Begins a checksum over the connection's notifications. */
    void beginChecksum() {
        send(ServerReport.begin());
    }

    /** The report as of now; {@code null} if the serving process gives none, and is then not asked again. */
    @Nullable
    ServerReport ask() {
        if (silent) {
            return null;
        }
        CompletableFuture<ServerReport> answer = new CompletableFuture<>();
        awaited = answer;
        send(ServerReport.request());
        try {
            return Waiting.await(answer, PATIENCE);
        } catch (TimeoutException e) {
            silent = true;
            return null;
        }
    }

    private void send(byte[] payload) {
        connection.notify(payload, TransferOptions.defaults(), (transfer, error) -> {
            if (error != null) {
                awaited.completeExceptionally(error);
            }
        });
    }

    /** A listener to whom the end of the connection means nothing: its transfers tell of it. */
    interface NotificationSink extends NotificationListener {
        @Override
        default void ended(@Nullable SluiceException error) {}
    }
}
