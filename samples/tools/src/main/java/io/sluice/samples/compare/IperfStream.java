package io.sluice.samples.compare;

import io.sluice.samples.report.ByteSize;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * One stream of {@code iperf3}, which nobody acknowledges but the kernel.
 *
 * @param block what it gives the kernel at once, in bytes
 */
record IperfStream(long block) implements Measurement {

    /** It takes no larger ones. */
    static final long MOST_BYTES = 1L << 20;

    @Override
    public Program program() {
        return Program.IPERF3;
    }

    @Override
    public String label() {
        return "iperf3, one stream, blocks of " + ByteSize.format(block);
    }

    @Override
    public Figures run(BenchEnvironment workbench) throws MeasurementFailedException {
        String executable = program().executable();
        Timing timing = workbench.timing();
        String output = workbench.runPair(
                label(),
                Map.of(),
                port -> List.of(executable, "-s", "-1", "-B", "127.0.0.1", "-p", Integer.toString(port)),
                port -> List.of(
                        executable,
                        "-c",
                        "127.0.0.1",
                        "-p",
                        Integer.toString(port),
                        "-l",
                        Long.toString(block),
                        "-t",
                        Long.toString(Math.max(1, wholeSeconds(timing.duration()))),
                        "-O",
                        Long.toString(wholeSeconds(timing.warmup())),
                        "-J"));
        return Figures.ofBandwidth(IperfOutput.gigabytesPerSecond(output));
    }

    /** It knows no shorter times. */
    private static long wholeSeconds(Duration time) {
        return time.plusSeconds(1).minusNanos(1).toSeconds();
    }
}
