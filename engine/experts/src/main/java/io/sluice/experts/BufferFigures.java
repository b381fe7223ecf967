package io.sluice.experts;

import io.sluice.collectives.Team;
import java.util.ArrayList;
import java.util.List;

/** The counters of a buffer on this rank. The loop counts; any thread reads. */
final class BufferFigures implements ExpertMetrics {
    private final Team team;
    private final ExpertOptions options;
    private final int localExperts;
    private final CallFigures[] kinds = new CallFigures[ExpertCallKind.values().length];
    private final List<ExpertCallMetrics> calls;
    private final Counters loads;
    private final Counters busiest = new Counters(1);
    private final Counters waits;
    private final Counters lasts;

    BufferFigures(Team team, ExpertOptions options) {
        this.team = team;
        this.options = options;
        this.localExperts = options.localExperts(team.size());
        this.loads = new Counters(localExperts);
        this.waits = new Counters(team.size());
        this.lasts = new Counters(team.size());
        List<ExpertCallMetrics> had = new ArrayList<>();
        for (ExpertCallKind kind : ExpertCallKind.values()) {
            kinds[kind.ordinal()] = new CallFigures(kind);
            boolean has = switch (kind) {
                case LOW_LATENCY_DISPATCH, LOW_LATENCY_COMBINE -> options.hasLowLatency();
                case DISPATCH, COMBINE -> options.hasNormalMode();
            };
            if (has) {
                had.add(of(kind));
            }
        }
        this.calls = List.copyOf(had);
    }

    // ---- the loop ----

    CallFigures of(ExpertCallKind kind) {
        return kinds[kind.ordinal()];
    }

    void countLoad(int localExpert, long tokens) {
        loads.add(localExpert, tokens);
    }

    /** Counts the most tokens of an expert in a dispatch. */
    void countBusiest(long tokens) {
        busiest.add(0, tokens);
    }

    void countWait(int peer, long nanos) {
        waits.add(peer, nanos);
    }

    void countLast(int peer) {
        lasts.add(peer, 1);
    }

    // ---- any thread ----

    @Override
    public String engine() {
        return team.metrics().engine();
    }

    @Override
    public String team() {
        return team.name();
    }

    @Override
    public int rank() {
        return team.rank();
    }

    @Override
    public int ranks() {
        return team.size();
    }

    @Override
    public int experts() {
        return options.experts();
    }

    @Override
    public int localExperts() {
        return localExperts;
    }

    @Override
    public List<ExpertCallMetrics> calls() {
        return calls;
    }

    @Override
    public long load(int localExpert) {
        return loads.get(localExpert);
    }

    @Override
    public long busiestLoad() {
        return busiest.get(0);
    }

    @Override
    public long waitedNanos(int peer) {
        return waits.get(peer);
    }

    @Override
    public long lastArrivals(int peer) {
        return lasts.get(peer);
    }
}
