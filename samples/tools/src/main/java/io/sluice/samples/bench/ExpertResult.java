package io.sluice.samples.bench;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonPropertyOrder;
import io.sluice.engine.SluiceException;
import io.sluice.samples.report.JsonText;
import java.util.List;
import java.util.Locale;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * The figures of dispatch and combine. As JSON its fields are in snake case.
 *
 * @param transport names of the transports that connect the first rank with the others
 * @param backend the communication back end; {@code null} on GPUs
 * @param memory of the first rank: host, or its GPU
 * @param tokens of each rank
 * @param experts of all ranks together
 * @param rounds those that were measured: a dispatch and a combine each
 * @param dispatch the figures of dispatches
 * @param combine the figures of combines
 * @param device times by the clock of the slowest GPU; {@code null} on the host
 * @param errors rounds that failed
 * @param verified whether all that was checked was right on every rank, in the warm-up too; {@code null} without
 *     a check
 * @param allocatedBytesPerRound of heap, by the thread that runs the calls, on the rank that allocates most
 * @param processors those that the ranks share
 * @param oversubscription ranks for each of them
 * @param coresUsed processor time of all ranks in the measured time, divided by it
 * @param wrong vectors that were wrong, each rank's counted
 */
@JsonPropertyOrder({
    "mode",
    "ranks",
    "transport",
    "backend",
    "memory",
    "tokens",
    "hidden",
    "top_k",
    "experts",
    "fp8",
    "rounds",
    "dispatch_us",
    "combine_us",
    "dispatch_gigabytes_per_second",
    "combine_gigabytes_per_second",
    "device_dispatch_us",
    "device_combine_us",
    "device_round_us",
    "device_dispatch_gigabytes_per_second",
    "device_combine_gigabytes_per_second",
    "errors",
    "verified",
    "allocated_bytes_per_round",
    "dispatch_bytes",
    "combine_bytes"
})
public record ExpertResult(
        String mode,
        int ranks,
        String transport,
        @Nullable String backend,
        String memory,
        int tokens,
        int hidden,
        @JsonProperty("top_k") int topK,
        int experts,
        boolean fp8,
        long rounds,
        @JsonIgnore Half dispatch,
        @JsonIgnore Half combine,
        @JsonIgnore ExpertCalls.@Nullable DeviceMicros device,
        long errors,
        @Nullable Boolean verified,
        @JsonProperty("allocated_bytes_per_round") double allocatedBytesPerRound,
        int processors,
        double oversubscription,
        @JsonProperty("cores_used") double coresUsed,
        @JsonIgnore long wrong,
        @JsonIgnore @Nullable SluiceException firstError) {
    /**
     * Of dispatches, or of combines.
     *
     * @param bytes of one, on the average rank
     * @param seconds measured time, without that of checks; of the rank that took longest
     * @param micros how long they took, on all ranks
     */
    public record Half(double bytes, double seconds, long count, BenchResult.LatencyMicros micros) {
        static Half of(double bytes, List<RankFigures> figures) {
            return new Half(
                    bytes,
                    greatest(figures, RankFigures::nanos) / 1e9,
                    figures.getFirst().operations(),
                    BenchResult.LatencyMicros.of(RankFigures.latencies(figures)));
        }

        double gigabytesPerSecond() {
            return seconds > 0 ? bytes * count / seconds / 1e9 : 0;
        }
    }

    private static long greatest(List<RankFigures> figures, ToLongFunction<RankFigures> figure) {
        return figures.stream().mapToLong(figure).max().orElse(0);
    }

    /**
     * Of what the ranks have measured.
     *
     * @param vectors that travel in a dispatch, of the average rank
     */
    static ExpertResult of(
            ExpertPlan plan,
            String transport,
            @Nullable String backend,
            MemoryPlace memory,
            double vectors,
            List<RankFigures> dispatched,
            List<RankFigures> combined,
            ExpertCalls.@Nullable DeviceMicros device,
            long wrong,
            @Nullable SluiceException error) {
        Half dispatch = Half.of(vectors * plan.dispatchedBytes(), dispatched);
        Half combine = Half.of(vectors * plan.combinedBytes(), combined);
        double allocated =
                (double) greatest(dispatched, RankFigures::allocated) + greatest(combined, RankFigures::allocated);
        double processorNanos = (double) dispatched.stream()
                        .mapToLong(RankFigures::processorNanos)
                        .sum()
                + combined.stream().mapToLong(RankFigures::processorNanos).sum();
        double seconds = dispatch.seconds() + combine.seconds();
        return new ExpertResult(
                plan.mode().toString(),
                plan.ranks(),
                transport,
                backend,
                memory.toString(),
                plan.tokens(),
                plan.hidden(),
                plan.topK(),
                plan.experts(),
                plan.fp8(),
                combine.count(),
                dispatch,
                combine,
                device,
                error == null ? 0 : 1,
                plan.verify() ? wrong == 0 && error == null : null,
                combine.count() > 0 ? allocated / combine.count() : 0,
                plan.processors(),
                (double) plan.ranks() / plan.processors(),
                seconds > 0 ? processorNanos / 1e9 / seconds : 0,
                wrong,
                error);
    }

    /** How long dispatches took, on all ranks. */
    @JsonProperty("dispatch_us")
    public BenchResult.LatencyMicros dispatchMicros() {
        return dispatch.micros();
    }

    /** How long combines took, on all ranks. */
    @JsonProperty("combine_us")
    public BenchResult.LatencyMicros combineMicros() {
        return combine.micros();
    }

    /** Bytes of the average rank's vectors that dispatch has brought in each second, in units of 10<sup>9</sup>. */
    @JsonProperty("dispatch_gigabytes_per_second")
    public double dispatchGigabytesPerSecond() {
        return dispatch.gigabytesPerSecond();
    }

    /** The same of combine. */
    @JsonProperty("combine_gigabytes_per_second")
    public double combineGigabytesPerSecond() {
        return combine.gigabytesPerSecond();
    }

    /** Of a dispatch among others that follow each other, by the clock of the slowest GPU; {@code null} on the host. */
    @JsonProperty("device_dispatch_us")
    public @Nullable Double deviceDispatchMicros() {
        return device == null ? null : (Double) device.dispatch();
    }

    /** The same of a combine, whose dispatch is not counted. */
    @JsonProperty("device_combine_us")
    public @Nullable Double deviceCombineMicros() {
        return device == null ? null : (Double) device.combine();
    }

    /** The same of a dispatch and a combine after it, together. */
    @JsonProperty("device_round_us")
    public @Nullable Double deviceRoundMicros() {
        return device == null ? null : (Double) device.round();
    }

    /** As {@link #dispatchGigabytesPerSecond}, by the clock of the slowest GPU; {@code null} on the host. */
    @JsonProperty("device_dispatch_gigabytes_per_second")
    public @Nullable Double deviceDispatchGigabytesPerSecond() {
        return deviceGigabytesPerSecond(dispatch, deviceDispatchMicros());
    }

    /** The same of combine. */
    @JsonProperty("device_combine_gigabytes_per_second")
    public @Nullable Double deviceCombineGigabytesPerSecond() {
        return deviceGigabytesPerSecond(combine, deviceCombineMicros());
    }

    private static @Nullable Double deviceGigabytesPerSecond(Half half, @Nullable Double micros) {
        return micros == null ? null : (Double) (micros > 0 ? half.bytes() / micros / 1e3 : 0);
    }

    /** Bytes of a dispatch, of the average rank. */
    @JsonProperty("dispatch_bytes")
    public double dispatchBytes() {
        return dispatch.bytes();
    }

    /** The same of combine. */
    @JsonProperty("combine_bytes")
    public double combineBytes() {
        return combine.bytes();
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

    /** Figures as a table for people, a line for each number of ranks. */
    public static final class ExpertTable {
        private ExpertTable() {}

        /** Facts common to all lines, and the names of the columns. */
        public static String head(ExpertResult result) {
            return String.format(
                    Locale.ROOT,
                    "%s, %d tokens a rank, %d channels%s, %d of %d experts, %s, %d %s%n"
                            + "%5s %-9s %11s %11s %9s %11s %11s %9s %9s %6s %8s %8s%s%n",
                    result.mode(),
                    result.tokens(),
                    result.hidden(),
                    result.fp8() ? " dispatched as FP8" : "",
                    result.topK(),
                    result.experts(),
                    result.backend() == null ? "memory " + result.memory() : "back end " + result.backend(),
                    result.processors(),
                    result.processors() == 1 ? "processor" : "processors",
                    "ranks",
                    "transport",
                    "dispatch us",
                    "p99 us",
                    "GB/s",
                    "combine us",
                    "p99 us",
                    "GB/s",
                    "rounds",
                    "cores",
                    "heap B",
                    "verified",
                    result.device() == null
                            ? ""
                            : String.format(
                                    Locale.ROOT,
                                    " %18s %9s %17s %9s %15s",
                                    "device dispatch us",
                                    "GB/s",
                                    "device combine us",
                                    "GB/s",
                                    "device round us"));
        }

        /** One line; heap is what a round allocates. */
        public static String line(ExpertResult result) {
            Boolean verified = result.verified();
            String told = verified == null ? "-" : verified ? "yes" : "NO";
            return String.format(
                    Locale.ROOT,
                    "%5d %-9s %11.2f %11.2f %9.3f %11.2f %11.2f %9.3f %9d %6.2f %8.1f %8s%s%s%n",
                    result.ranks(),
                    result.transport(),
                    result.dispatchMicros().p50(),
                    result.dispatchMicros().p99(),
                    result.dispatchGigabytesPerSecond(),
                    result.combineMicros().p50(),
                    result.combineMicros().p99(),
                    result.combineGigabytesPerSecond(),
                    result.rounds(),
                    result.coresUsed(),
                    result.allocatedBytesPerRound(),
                    told,
                    device(result),
                    result.errors() == 0 ? "" : "  failed");
        }

        private static String device(ExpertResult result) {
            return result.device() == null
                    ? ""
                    : String.format(
                            Locale.ROOT,
                            " %18.2f %9.3f %17.2f %9.3f %15.2f",
                            result.deviceDispatchMicros(),
                            result.deviceDispatchGigabytesPerSecond(),
                            result.deviceCombineMicros(),
                            result.deviceCombineGigabytesPerSecond(),
                            result.deviceRoundMicros());
        }
    }
}
