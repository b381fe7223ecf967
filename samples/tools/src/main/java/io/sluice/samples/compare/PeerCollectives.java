package io.sluice.samples.compare;

import java.util.Map;

/** The same collectives by another library, with every element checked. */
record PeerCollectives(CollectivePeer peer, Collectives collectives) implements Measurement {
    @Override
    public Program program() {
        return peer.driver().program();
    }

    @Override
    public String label() {
        return peer + " " + collectives.description();
    }

    @Override
    public Figures run(BenchEnvironment environment) throws MeasurementFailedException {
        BaselineRun.BaselineOutput output = BaselineRun.BaselineOutput.of(environment
                .unpinned()
                .runAlone(
                        label(),
                        Map.of("TMPDIR", environment.folder().toString()),
                        peer.command(collectives, environment)));
        double operations = output.operationsPerSecond();
        double busFactor = collectives.collective().busFactor(collectives.ranks());
        return OwnCollectives.figures(
                operations, output.medianMicros(), operations * collectives.size() * busFactor / 1e9);
    }
}
