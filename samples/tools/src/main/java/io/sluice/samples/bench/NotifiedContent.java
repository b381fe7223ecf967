package io.sluice.samples.bench;

import io.sluice.engine.Connection;
import java.util.ArrayList;
import java.util.List;

/** What notifications move, which the serving process tells by a checksum over payloads and their order. */
final class NotifiedContent implements Content {

    private final List<Notifications> sent;
    private final List<ReportClient> reports = new ArrayList<>();

    NotifiedContent(List<Notifications> sent, List<Connection> connections) {
        this.sent = sent;
        for (Connection connection : connections) {
            ReportClient client = ReportClient.on(connection);
            client.beginChecksum();
            reports.add(client);
        }
    }

    @Override
    public long differing(List<Long> submitted) {
        long differing = 0;
        for (int i = 0; i < sent.size(); i++) {
            ServerReport report = reports.get(i).ask();
            if (report == null) {
                throw BenchException.failed(
                        "the serving process does not tell what it got: start it with this version of 'sluice serve'");
            }
            PayloadSum sum = sent.get(i).sum();
            if (report.notifications() != sum.count()) {
                differing += Math.abs(report.notifications() - sum.count());
            } else if (report.checksum() != sum.value()) {
                differing++;
            }
        }
        return differing;
    }
}
