package io.sluice.samples.bench;

import io.sluice.engine.Connection;
import io.sluice.engine.NotificationListener;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferOptions;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
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

    void beginChecksum() {
        send(ServerReport.BEGIN);
    }

    /** The report as of now; {@code null} if the serving process gives none, and is then not asked again. */
    @Nullable
    ServerReport ask() {
        if (silent) {
            return null;
        }
        CompletableFuture<ServerReport> answer = new CompletableFuture<>();
        awaited = answer;
        send(ServerReport.REQUEST);
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

    /** A listener that ignores the end of the connection: its transfers report it. */
    interface NotificationSink extends NotificationListener {
        @Override
        default void ended(@Nullable SluiceException error) {}
    }

    /** A report of the serving process, a notification that another one asks for. */
    record ServerReport(long cpuNanos, long notifications, long checksum) {
        private static final long MAGIC = 0x736C_7569_6365_2D31L;
        /** The payload that asks for one. */
        static final byte[] REQUEST = "sluice bench: report".getBytes(StandardCharsets.US_ASCII);

        /** The payload that begins a checksum of all that comes on the connection after it. */
        static final byte[] BEGIN = "sluice bench: begin a checksum".getBytes(StandardCharsets.US_ASCII);

        byte[] toBytes() {
            return ByteBuffer.allocate(4 * Long.BYTES)
                    .putLong(MAGIC)
                    .putLong(cpuNanos)
                    .putLong(notifications)
                    .putLong(checksum)
                    .array();
        }

        static @Nullable ServerReport fromBytes(byte[] payload) {
            ByteBuffer bytes = ByteBuffer.wrap(payload);
            return payload.length == 4 * Long.BYTES && bytes.getLong() == MAGIC
                    ? new ServerReport(bytes.getLong(), bytes.getLong(), bytes.getLong())
                    : null;
        }
    }
}
