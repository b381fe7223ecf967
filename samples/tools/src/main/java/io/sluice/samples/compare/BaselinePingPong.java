package io.sluice.samples.compare;

import java.util.List;
import java.util.Map;

/**
 * The round trip of 8 bytes between two plain C programs.
 *
 * @param waiting what both do until the ball comes
 */
record BaselinePingPong(Waiting waiting) implements Measurement {

    /** Ways to wait. */
    enum Waiting {
        /** On their sockets, which do not block; on one processor they yield it to each other. */
        BUSY,
        /** In the kernel. */
        BLOCKED
    }

    @Override
    public Program program() {
        return Program.CEILING;
    }

    @Override
    public String label() {
        return waiting == Waiting.BLOCKED ? "C ping-pong, blocking" : "C ping-pong";
    }

    @Override
    public Figures run(BenchEnvironment workbench) throws MeasurementFailedException {
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
                        way(workbench.pinning()),
                        Long.toString(timing.warmup().toMillis()),
                        Long.toString(timing.duration().toMillis())));
        BaselineOutput figures = BaselineOutput.of(output);
        return Figures.ofLatency(figures.medianMicros(), figures.tail());
    }

    private String way(Pinning pinning) {
        if (waiting == Waiting.BLOCKED) {
            return "block";
        }
        return pinning.isShared() ? "yield" : "spin";
    }
}
