package io.sluice.samples.compare;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.sluice.samples.bench.BenchOperation;
import io.sluice.samples.report.ByteSize;
import io.sluice.samples.report.JsonText;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * A measurement by the plain C program.
 *
 * @param hasTarget whether it needs a second process of the program, which listens at a port
 * @param operands of the mode, between the port and the times
 * @param size of a transfer in bytes; 0 for round trips
 */
record BaselineRun(String label, String mode, boolean hasTarget, List<String> operands, long size)
        implements Measurement {
    private static final String PING_PONG = "ping-pong";
    private static final String SPIN = "spin";

    /** Acknowledged one-sided puts, or gets for a read, over a socket; each frame is one system call. */
    static BaselineRun transfers(BenchOperation operation, long size, int inflight) {
        String mode = operation.isRead() ? "get" : "put";
        String label = "C " + mode + " of " + ByteSize.format(size) + ", " + inflight + " in flight";
        return new BaselineRun(label, mode, true, List.of(Long.toString(size), Integer.toString(inflight)), size);
    }

    /** The round trip of 8 bytes over sockets that do not block; on one processor both sides yield it. */
    static BaselineRun pingPong() {
        return new BaselineRun("C ping-pong", PING_PONG, true, List.of(SPIN), 0);
    }

    /** The same with both sides asleep in the kernel. */
    static BaselineRun blockingPingPong() {
        return new BaselineRun("C ping-pong, blocking", PING_PONG, true, List.of("block"), 0);
    }

    /** Copies by {@code memcpy} that go through a span of the process's own memory. */
    static BaselineRun privateCopies(long size, long span) {
        return copies("memcpy", size, span, "private");
    }

    /** The same through two files in memory, mapped as those that processes share. */
    static BaselineRun sharedCopies(long size, long span) {
        return copies("shared-memcpy", size, span, "shared");
    }

    private static BaselineRun copies(String mode, long size, long span, String memory) {
        String label =
                "memcpy of " + ByteSize.format(size) + " within " + ByteSize.format(span) + " of " + memory + " memory";
        return new BaselineRun(label, mode, false, List.of(Long.toString(size), Long.toString(span)), size);
    }

    /** Writes into another process's memory by {@code process_vm_writev}. */
    static BaselineRun crossMemoryWrites(long size) {
        String label = "C process_vm_writev of " + ByteSize.format(size);
        return new BaselineRun(label, "process-vm-writev", false, List.of(Long.toString(size)), size);
    }

    @Override
    public Program program() {
        return Program.CEILING;
    }

    @Override
    public Figures run(BenchEnvironment environment) throws MeasurementFailedException {
        String output = hasTarget
                ? environment.runPair(
                        label,
                        Map.of(),
                        port -> List.of(environment.program(CProgram.CEILING), "target", Integer.toString(port)),
                        port -> command(environment, List.of(Integer.toString(port))))
                : environment.runAlone(label, Map.of(), command(environment, List.of()));
        BaselineOutput figures = BaselineOutput.of(output);
        return size == 0
                ? Figures.ofLatency(figures.medianMicros(), figures.tail())
                : Figures.ofRate(figures.operationsPerSecond(), size);
    }

    private List<String> command(BenchEnvironment environment, List<String> port) {
        List<String> command = new ArrayList<>(List.of(environment.program(CProgram.CEILING), mode));
        command.addAll(port);
        for (String operand : operands) {
            command.add(operand.equals(SPIN) && environment.pinning().isShared() ? "yield" : operand);
        }
        command.add(Long.toString(environment.timing().warmup().toMillis()));
        command.add(Long.toString(environment.timing().duration().toMillis()));
        return command;
    }

    /**
     * The line that the C program prints.
     *
     * @param medianNanos the median of a ping-pong's round trips, 0 for all else
     * @param p99Nanos what 99 of 100 of them took at most, 0 for all else
     */
    @JsonIgnoreProperties(ignoreUnknown = true)
    record BaselineOutput(
            long nanos,
            long operations,
            @JsonProperty("median_nanos") long medianNanos,
            @JsonProperty("p99_nanos") long p99Nanos) {
        private static final ObjectMapper JSON = new ObjectMapper();

        static BaselineOutput of(String output) throws MeasurementFailedException {
            try {
                return JSON.readValue(output, BaselineOutput.class);
            } catch (JsonProcessingException e) {
                throw new MeasurementFailedException("it printed no figures");
            }
        }

        /** The same line, for a Java program that measures in the same way. */
        static String toJson(long nanos, long operations) {
            return JsonText.of(new BaselineOutput(nanos, operations, 0, 0));
        }

        double operationsPerSecond() {
            return nanos > 0 ? operations * 1e9 / nanos : 0;
        }

        double medianMicros() {
            return medianNanos / 1e3;
        }

        /** The 99th percentile of the round-trip time divided by the median. */
        double tail() {
            return medianNanos > 0 ? (double) p99Nanos / medianNanos : 0;
        }
    }
}
