package io.sluice.samples.compare;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.sluice.samples.bench.Api;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A line of the table with its figures. As JSON its fields are in snake case.
 *
 * @param name of the comparison
 * @param api through what our transfers were started
 * @param op what they do
 * @param transport that they went over
 * @param size of an element, in bytes
 * @param inflight how many elements were in flight
 * @param unit of all figures
 * @param sluice our figures
 * @param peer the other ones
 * @param ratio of the medians, ours by theirs; {@code null} if one is not there, or theirs is 0. Of what is measured in
 *     pairs it is the median of the rounds' ratios
 * @param ratioOf which: {@code medians} or {@code rounds}
 * @param goal what it is to be, or {@code null}
 * @param met whether it is so; {@code null} without a goal or a ratio
 * @param problem why figures are not there, or not those of all rounds; {@code null} if all are
 * @param failed whether that is because something went wrong, not because it was left out
 */
record ComparisonResult(
        @JsonProperty("name") String name,
        @JsonProperty("api") String api,
        @JsonProperty("op") String op,
        @JsonProperty("transport") String transport,
        @JsonProperty("size") long size,
        @JsonProperty("inflight") int inflight,
        @JsonProperty("unit") String unit,
        @JsonProperty("sluice") Side sluice,
        @JsonProperty("peer") Side peer,
        @JsonProperty("ratio") @Nullable Double ratio,
        @JsonProperty("ratio_of") String ratioOf,
        @JsonProperty("goal") @Nullable Goal goal,
        @JsonProperty("met") @Nullable Boolean met,
        @JsonProperty("problem") @Nullable String problem,
        @JsonIgnore boolean failed,
        @JsonIgnore Quantity quantity) {

    private static final ObjectMapper JSON = new ObjectMapper();

    /**
     * The figures of one measurement.
     *
     * @param measured what it is
     * @param median of the rounds, {@code null} if none has figures
     * @param rounds the figure of each round, {@code null} of one that failed
     */
    record Side(
            @JsonProperty("measured") String measured,
            @JsonProperty("median") @Nullable Double median,
            @JsonProperty("rounds") List<@Nullable Double> rounds) {

        static Side of(Measurement measurement, Series series, Quantity quantity) {
            List<@Nullable Double> rounds = series.values(quantity);
            return new Side(measurement.label(), Series.median(rounds), rounds);
        }
    }

    /**
     * Of two measurements.
     *
     * @param ours figures of this engine
     * @param theirs figures of the other program
     * @param leftOut why nothing was measured, or {@code null} if it was
     */
    static ComparisonResult of(Comparison comparison, Api api, Series ours, Series theirs, @Nullable String leftOut) {
        Subject subject = comparison.subject();
        Quantity quantity = comparison.quantity();
        Side sluice = Side.of(comparison.ours(api), ours, quantity);
        Side peer = Side.of(comparison.theirs(), theirs, quantity);
        Double ratio = comparison.isPaired()
                ? Series.median(ratios(sluice.rounds(), peer.rounds()))
                : ratio(sluice.median(), peer.median());
        Goal goal = comparison.goal();
        List<String> failures = Stream.of(ours, theirs)
                .flatMap(series -> Stream.ofNullable(series.problem()))
                .toList();
        return new ComparisonResult(
                comparison.name(),
                api.toString(),
                subject.doing(),
                subject.route().transport(),
                subject.size(),
                subject.inflight(),
                quantity.unit(),
                sluice,
                peer,
                ratio,
                comparison.isPaired() ? "rounds" : "medians",
                goal,
                met(goal, ratio),
                problem(leftOut, failures),
                !failures.isEmpty(),
                quantity);
    }

    /** Of the rounds that have both. */
    private static List<@Nullable Double> ratios(List<@Nullable Double> ours, List<@Nullable Double> theirs) {
        List<@Nullable Double> ratios = new ArrayList<>();
        for (int i = 0; i < Math.min(ours.size(), theirs.size()); i++) {
            ratios.add(ratio(ours.get(i), theirs.get(i)));
        }
        return ratios;
    }

    private static @Nullable Double ratio(@Nullable Double ours, @Nullable Double theirs) {
        return ours == null || theirs == null || theirs == 0 ? null : Double.valueOf(ours / theirs);
    }

    private static @Nullable Boolean met(@Nullable Goal goal, @Nullable Double ratio) {
        if (goal == null || ratio == null) {
            return null;
        }
        return goal.isMetBy(ratio);
    }

    private static @Nullable String problem(@Nullable String leftOut, List<String> failures) {
        List<String> all = new ArrayList<>();
        if (leftOut != null) {
            all.add("left out: " + leftOut);
        }
        failures.forEach(failure -> all.add("failed: " + failure));
        return all.isEmpty() ? null : String.join("; ", all);
    }

    /** Whether it has no goal, or reaches it. */
    @JsonIgnore
    boolean isGoalMet() {
        return goal == null || Boolean.TRUE.equals(met);
    }

    /** As one line of JSON. */
    String toJson() {
        try {
            return JSON.writeValueAsString(this);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("figures can always be written", e);
        }
    }
}
