package io.sluice.samples.compare;

import java.util.List;
import java.util.Map;

/** The round trip of 8 bytes between two plain C programs that both spin on their sockets. */
record CeilingPingPong() implements Measurement {

    @Override
    public Program program() {
        return Program.CEILING;
    }

    @Override
    public String label() {
        return "C ping-pong";
    }

    @Override
    public Figures run(Workbench workbench) throws MeasurementFailedException {
        String ceiling = workbench.ceiling();
        Timing timing = workbench.timing();
        String output = workbench.runPair(
                label(),
                Map.of(),
                port -> List.of(ceiling, "target", Integer.toString(port)),
                port -> List.of(
                        ceiling,
                        "ping-pong",
                        Integer.toString(port),
                        workbench.pinning().isShared() ? "yield" : "spin",
                        Long.toString(timing.warmup().toMillis()),
                        Long.toString(timing.duration().toMillis())));
        return Figures.ofLatency(CeilingOutput.of(output).medianMicros());
    }
}
