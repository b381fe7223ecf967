package io.sluice.samples.compare;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.sluice.samples.report.ByteSize;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** One stream of {@code iperf3}, which only the kernel acknowledges; it is given blocks of so many bytes. */
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
        long seconds = Math.max(1, wholeSeconds(timing.duration()));
        String times = " -t " + seconds + " -O " + wholeSeconds(timing.warmup());
        String output = workbench.runPair(
                label(),
                Map.of(),
                port -> List.of((executable + " -s -1 -B 127.0.0.1 -p " + port).split(" ")),
                port -> List.of((executable + " -c 127.0.0.1 -p " + port + " -l " + block + times + " -J").split(" ")));
        return Figures.ofBandwidth(gigabytesPerSecond(output));
    }

    /** It knows no shorter times. */
    private static long wholeSeconds(Duration time) {
        return time.plusSeconds(1).minusNanos(1).toSeconds();
    }

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final double BITS_PER_GIGABYTE = 8e9;

    /** Parses the receiver's figure; an error, which it may report with status 0, is a failure. */
    static double gigabytesPerSecond(String output) throws MeasurementFailedException {
        JsonNode report;
        try {
            report = JSON.readTree(output);
        } catch (JsonProcessingException e) {
            throw new MeasurementFailedException("what iperf3 prints is no JSON");
        }
        if (report.hasNonNull("error")) {
            throw new MeasurementFailedException(report.path("error").asText());
        }
        JsonNode rate = report.path("end").path("sum_received").path("bits_per_second");
        if (!rate.isNumber()) {
            throw new MeasurementFailedException("what iperf3 prints holds no rate of the receiving side");
        }
        return rate.asDouble() / BITS_PER_GIGABYTE;
    }
}
