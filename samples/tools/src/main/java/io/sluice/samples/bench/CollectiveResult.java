package io.sluice.samples.bench;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonPropertyOrder;
import io.sluice.engine.SluiceException;
import io.sluice.samples.report.ByteSize;
import io.sluice.samples.report.JsonText;
import java.util.List;
import java.util.Locale;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * The figures of one collective and size. As JSON its fields are in snake case.
 *
 * @param transport names of the transports that connect the first rank with the others
 * @param algorithm the one that ran
 * @param memory of the first rank: host, or its GPU
 * @param graph how many collectives an operation starts by one graph of the driver; 0 for one, without a graph
 * @param size bytes, as nccl-tests counts them: of a rank's vector, or of the blocks of all ranks together
 * @param persistent whether it was prepared once and started again
 * @param seconds measured time, without that of checks; of the rank that took longest
 * @param operations collectives of one rank that ended in it
 * @param latencyMicros how long they took from their start to the callback, on all ranks; of a graph all of its together
 * @param errors operations that failed
 * @param verified whether every element of every operation was right on every rank, in the warm-up too; {@code null} without
 *     a check
 * @param allocatedBytesPerOperation of heap, by the thread that runs collectives, on the rank that allocates most
 * @param processors those that the ranks share
 * @param oversubscription ranks for each of them
 * @param coresUsed processor time of all ranks in the measured time, divided by it
 * @param deviceMicros of a collective among others that follow each other, by the clock of the slowest GPU; {@code null} on the host
 * @param wrong operations with a wrong result, each rank's counted
 */
@JsonPropertyOrder({
    "collective",
    "ranks",
    "transport",
    "type",
    "operation",
    "algorithm",
    "memory",
    "graph",
    "size",
    "persistent",
    "seconds",
    "operations",
    "latency_us",
    "algorithm_gigabytes_per_second",
    "bus_gigabytes_per_second",
    "device_us",
    "device_bus_gigabytes_per_second",
    "errors",
    "verified"
})
public record CollectiveResult(
        String collective,
        int ranks,
        String transport,
        String type,
        @Nullable String operation,
        String algorithm,
        String memory,
        int graph,
        long size,
        boolean persistent,
        double seconds,
        long operations,
        @JsonProperty("latency_us") BenchResult.LatencyMicros latencyMicros,
        long errors,
        @Nullable Boolean verified,
        @JsonProperty("allocated_bytes_per_operation") double allocatedBytesPerOperation,
        int processors,
        double oversubscription,
        @JsonProperty("cores_used") double coresUsed,
        @JsonProperty("device_us") @Nullable Double deviceMicros,
        @JsonIgnore double busFactor,
        @JsonIgnore long wrong,
        @JsonIgnore @Nullable SluiceException firstError) {

    static CollectiveResult of(
            CollectivePlan plan,
            CollectivePlan.Case measured,
            CollectiveCase.Calls calls,
            @Nullable Double deviceMicros,
            String transport,
            List<RankFigures> figures,
            Histogram latencies,
            long wrong,
            long errors,
            @Nullable SluiceException error) {
        long nanos = figures.stream().mapToLong(RankFigures::nanos).max().orElse(0);
        long operations = figures.getFirst().operations() * Math.max(1, calls.graph());
        long allocated =
                figures.stream().mapToLong(RankFigures::allocated).max().orElse(0);
        long processorNanos =
                figures.stream().mapToLong(RankFigures::processorNanos).sum();
        BenchCollective collective = measured.collective();
        return new CollectiveResult(
                collective.toString(),
                plan.ranks(),
                transport,
                plan.type().toString().toLowerCase(Locale.ROOT),
                collective.isReduction() ? plan.operation().toString().toLowerCase(Locale.ROOT) : null,
                calls.algorithm(),
                calls.memory().toString(),
                calls.graph(),
                measured.size(),
                plan.persistent(),
                nanos / 1e9,
                operations,
                BenchResult.LatencyMicros.of(latencies),
                errors,
                plan.verify() ? wrong == 0 && errors == 0 : null,
                operations > 0 ? (double) allocated / operations : 0,
                plan.processors(),
                (double) plan.ranks() / plan.processors(),
                nanos > 0 ? (double) processorNanos / nanos : 0,
                deviceMicros,
                collective.busFactor(plan.ranks()),
                wrong,
                error);
    }

    /** Bytes of the size in each second, in units of 10<sup>9</sup>; 0 if no time passed. */
    @JsonProperty("algorithm_gigabytes_per_second")
    public double algorithmGigabytesPerSecond() {
        return seconds > 0 ? size * (double) operations / seconds / 1e9 : 0;
    }

    /** Bytes that passed the busiest link in each second, as nccl-tests counts them. */
    @JsonProperty("bus_gigabytes_per_second")
    public double busGigabytesPerSecond() {
        return algorithmGigabytesPerSecond() * busFactor;
    }

    /** The same by the clock of the GPU; {@code null} on the host. */
    @JsonProperty("device_bus_gigabytes_per_second")
    public @Nullable Double deviceBusGigabytesPerSecond() {
        return deviceMicros == null || deviceMicros <= 0 ? null : size * busFactor / deviceMicros / 1e3;
    }

    /** The mean time of an operation, in microseconds. */
    @JsonProperty("mean_us")
    public double meanMicros() {
        return operations > 0 ? seconds * 1e6 / operations : 0;
    }

    /** Whether nothing failed, and nothing that was checked was wrong. */
    @JsonIgnore
    public boolean isGood() {
        return errors == 0 && wrong == 0;
    }

    /** As one line. */
    public String toJson() {
        return JsonText.of(this);
    }

    /** Figures as a table for people, a line for each collective and size. */
    public static final class CollectiveTable {
        private CollectiveTable() {}

        /** Facts common to all lines, and the names of the columns. */
        public static String head(CollectiveResult result) {
            return String.format(
                    Locale.ROOT,
                    "%d ranks on %d %s over %s, %s%s%s%n%-13s %9s %-18s %10s %10s %10s %10s %12s %6s %8s %8s%s%n",
                    result.ranks(),
                    result.processors(),
                    result.processors() == 1 ? "processor" : "processors",
                    result.transport(),
                    result.type(),
                    result.persistent() ? ", persistent" : "",
                    result.graph() > 0 ? ", graphs of " + result.graph() : "",
                    "collective",
                    "size",
                    "algorithm",
                    "p50 us",
                    "p99 us",
                    "alg GB/s",
                    "bus GB/s",
                    "operations/s",
                    "cores",
                    "heap B",
                    "verified",
                    result.deviceMicros() == null
                            ? ""
                            : String.format(Locale.ROOT, " %10s %10s", "device us", "bus GB/s"));
        }

        /** One line; heap is what an operation allocates. */
        public static String line(CollectiveResult result) {
            return String.format(
                    Locale.ROOT,
                    "%-13s %9s %-18s %10.2f %10.2f %10.3f %10.3f %,12.0f %6.2f %8.1f %8s%s%s%n",
                    result.collective(),
                    ByteSize.format(result.size()),
                    result.algorithm(),
                    result.latencyMicros().p50(),
                    result.latencyMicros().p99(),
                    result.algorithmGigabytesPerSecond(),
                    result.busGigabytesPerSecond(),
                    result.seconds() > 0 ? result.operations() / result.seconds() : 0,
                    result.coresUsed(),
                    result.allocatedBytesPerOperation(),
                    verified(result),
                    device(result),
                    result.errors() == 0 ? "" : "  failed");
        }

        private static String device(CollectiveResult result) {
            Double micros = result.deviceMicros();
            Double rate = result.deviceBusGigabytesPerSecond();
            return micros == null ? "" : String.format(Locale.ROOT, " %10.2f %10.3f", micros, rate == null ? 0 : rate);
        }

        private static String verified(CollectiveResult result) {
            Boolean verified = result.verified();
            if (verified == null) {
                return "-";
            }
            return verified ? "yes" : "NO";
        }
    }
}
