package io.sluice.samples.bench;

import io.sluice.engine.Connection;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferOptions;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The serving side of a measurement: takes a connection's notifications, and answers those that ask for a report. */
public final class BenchResponder implements ReportClient.NotificationSink {
    private static final Logger LOG = LoggerFactory.getLogger(BenchResponder.class);

    private final Connection connection;
    private final Notifications.PayloadSum sum = new Notifications.PayloadSum();
    private boolean summing;

    private BenchResponder(Connection connection) {
        this.connection = connection;
    }

    /** Takes all notifications of a connection without a listener. */
    public static void attend(Connection connection) {
        connection.subscribe(new BenchResponder(connection)).request(Long.MAX_VALUE);
    }

    @Override
    public void notification(byte[] payload) {
        if (Arrays.equals(payload, ReportClient.ServerReport.REQUEST)) {
            report();
        } else if (Arrays.equals(payload, ReportClient.ServerReport.BEGIN)) {
            sum.reset();
            summing = true;
        } else if (summing) {
            sum.add(payload);
        }
    }

    private void report() {
        ReportClient.ServerReport report =
                new ReportClient.ServerReport(Usage.processCpuNanos(), sum.count(), sum.value());
        try {
            connection.notify(report.toBytes(), TransferOptions.defaults(), (transfer, error) -> told(error));
        } catch (SluiceException e) {
            told(e);
        }
    }

    private static void told(@Nullable SluiceException error) {
        if (error != null) {
            LOG.debug("the report was not sent", error);
        }
    }
}
