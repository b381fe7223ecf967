package io.sluice.samples.compare;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import io.sluice.samples.bench.Api;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A line of the table with its figures. As JSON its fields are in snake case.
 *
 * @param op what they do
 * @param size of an element, in bytes
 * @param ratio of the medians, ours by theirs; {@code null} if one is not there, or theirs is 0. Of what is measured in
 *     pairs it is the median of the rounds' ratios
 * @param ratioOf which: {@code medians} or {@code rounds}
 * @param goal what it is to be, or {@code null}
 * @param met whether it is so; {@code null} without a goal or a ratio
 * @param problem why figures are not there, or not those of all rounds; {@code null} if all are
 * @param sharing of ranks, how they share processors; {@code null} of all else
 * @param failed whether that is because something went wrong, not because it was left out
 */
record ComparisonResult(
        String topic,
        String name,
        String api,
        String op,
        String transport,
        long size,
        int inflight,
        String unit,
        Side sluice,
        Side peer,
        @Nullable Double ratio,
        @JsonProperty("ratio_of") String ratioOf,
        @Nullable Goal goal,
        @Nullable Boolean met,
        @Nullable String problem,
        boolean failed,
        @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable RankSharing sharing) {
    /** The figures of one measurement: of each round, {@code null} of one that failed, and their median. */
    record Side(String measured, @Nullable Double median, List<@Nullable Double> rounds, List<String> commands) {
        static Side of(Measurement measurement, Series series, Quantity quantity, BenchEnvironment.CommandLog log) {
            List<@Nullable Double> rounds = series.values(quantity);
            String label = measurement.label();
            return new Side(label, Series.median(rounds), rounds, log.of(label));
        }
    }

    static ComparisonResult of(
            Comparison comparison,
            Api api,
            Series ours,
            Series theirs,
            BenchEnvironment.CommandLog commands,
            @Nullable String leftOut) {
        return of(comparison, api, ours, theirs, commands, leftOut, comparison.theirs());
    }

    /**
     * The same.
     *
     * @param other what the other side's figures are of
     */
    static ComparisonResult of(
            Comparison comparison,
            Api api,
            Series ours,
            Series theirs,
            BenchEnvironment.CommandLog commands,
            @Nullable String leftOut,
            Measurement other) {
        Workload workload = comparison.workload();
        Quantity quantity = comparison.quantity();
        Side sluice = Side.of(comparison.ours(api), ours, quantity, commands);
        Side peer = Side.of(other, theirs, quantity, commands);
        Double ratio = comparison.isPaired()
                ? Series.median(ratios(sluice.rounds(), peer.rounds()))
                : ratio(sluice.median(), peer.median());
        Goal goal = comparison.goal();
        List<String> failures = Stream.of(ours, theirs)
                .flatMap(series -> Stream.ofNullable(series.problem()))
                .toList();
        return new ComparisonResult(
                Topic.of(comparison).toString(),
                comparison.name(),
                api.toString(),
                workload.doing(),
                workload.transport(),
                workload.size(),
                workload.inflight(),
                quantity.unit(),
                sluice,
                peer,
                ratio,
                comparison.isPaired() ? "rounds" : "medians",
                goal,
                met(goal, ratio),
                problem(leftOut, failures),
                !failures.isEmpty(),
                null);
    }

    ComparisonResult with(RankSharing shared) {
        return new ComparisonResult(
                topic, name, api, op, transport, size, inflight, unit, sluice, peer, ratio, ratioOf, goal, met, problem,
                failed, shared);
    }

    /** The name, and how ranks share processors. */
    @JsonIgnore
    String title() {
        return name + shared();
    }

    /** How ranks share processors, for people; empty of all else. */
    @JsonIgnore
    String shared() {
        return sharing == null ? "" : " (" + sharing.ranks() + " on " + sharing.processors() + " cores)";
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
        String all = Stream.concat(
                        Stream.ofNullable(leftOut).map("left out: "::concat),
                        failures.stream().map("failed: "::concat))
                .collect(Collectors.joining("; "));
        return all.isEmpty() ? null : all;
    }

    @JsonIgnore
    boolean isGoalMet() {
        return goal == null || Boolean.TRUE.equals(met);
    }

    /** For people: name, interface, our median, the peer's, unit, ratio, goal, and whether it is met. */
    @JsonIgnore
    List<String> cells() {
        return List.of(
                title(),
                api,
                text(sluice.median()),
                text(peer.median()),
                unit,
                ratioText(),
                goal == null ? "" : goal.toString(),
                metText());
    }

    /** Returns the name of the measured workload: the first half of the comparison's name. */
    @JsonIgnore
    String workload() {
        return name.substring(0, name.indexOf('/'));
    }

    /** Returns the name of the other side: the second half of the comparison's name. */
    @JsonIgnore
    String peerName() {
        return name.substring(name.indexOf('/') + 1);
    }

    /** The share of the goal that the ratio reaches: 1 or more if it is met; {@code null} without a goal or a ratio. */
    @JsonIgnore
    @Nullable
    Double shareOfGoal() {
        return goal == null || ratio == null ? null : goal.shareOf(ratio);
    }

    /** A figure of it for people; a dash for none. */
    String text(@Nullable Double figure) {
        return figure == null
                ? "-"
                : String.format(Locale.ROOT, Quantity.ofUnit(unit).format(), figure);
    }

    /** The ratio for people; a dash for none. */
    @JsonIgnore
    String ratioText() {
        return ratio == null ? "-" : String.format(Locale.ROOT, "%.2f", ratio);
    }

    /** Whether the goal is met, for people: empty without a goal, a dash if it is not known. */
    @JsonIgnore
    String metText() {
        if (goal == null) {
            return "";
        }
        if (met == null) {
            return "-";
        }
        return met ? "yes" : "NO";
    }
}
