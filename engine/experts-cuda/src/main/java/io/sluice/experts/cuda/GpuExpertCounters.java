package io.sluice.experts.cuda;

import io.sluice.collectives.Team;
import io.sluice.cuda.GpuStream;
import io.sluice.cuda.GpuWorkFigures;
import io.sluice.cuda.GpuWorkFigures.Tally;
import io.sluice.experts.ExpertCallKind;
import java.util.Arrays;
import java.util.List;

/** Counts starts of a buffer's calls. One thread at a time starts, any reads. */
final class GpuExpertCounters implements GpuExpertMetrics {
    private static final int SINGLES = ExpertCallKind.values().length;
    private static final int GRAPHS = SINGLES + 1;

    private final Team team;
    private final GpuStream stream;
    private final ExpertWords words;
    private final GpuWorkFigures works;
    private final List<GpuExpertCallMetrics> calls;

    GpuExpertCounters(Team team, GpuStream stream, ExpertWords words) {
        this.team = team;
        this.stream = stream;
        this.words = words;
        this.works = new GpuWorkFigures(stream, GRAPHS + 1);
        this.calls = Arrays.stream(ExpertCallKind.values())
                .<GpuExpertCallMetrics>map(OfKind::new)
                .toList();
    }

    /**
     * What calls are.
     *
     * @param alone what a start of it counts
     * @param inGraph what it counts in a graph
     */
    record Counted(Tally alone, Tally inGraph) {
        /** That of a call of one kind. */
        static Counted of(ExpertCallKind kind, int tokens) {
            return of(List.of(Tally.of(kind.ordinal(), tokens)));
        }

        /** That of a start alone. */
        static Counted ofNoCall() {
            return of(List.of());
        }

        private static Counted of(List<Tally> call) {
            Tally inGraph = Tally.of(call);
            return new Counted(Tally.of(List.of(inGraph, Tally.of(SINGLES, 0))), inGraph);
        }
    }

    /** What a start of several together counts. */
    static Tally graph(List<Tally> calls) {
        return Tally.of(List.of(Tally.of(calls), Tally.of(GRAPHS, 0)));
    }

    void started(Tally what, long number) {
        works.started(what, number);
    }

    /** The first half was. */
    void begun(Tally what) {
        works.begun(what);
    }

    /** The second half was. */
    void completed(Tally what, long number) {
        works.completed(what, number);
    }

    void refused() {
        works.refused();
    }

    /** Those of one kind. */
    private final class OfKind implements GpuExpertCallMetrics {
        private final ExpertCallKind kind;

        OfKind(ExpertCallKind kind) {
            this.kind = kind;
        }

        @Override
        public ExpertCallKind kind() {
            return kind;
        }

        @Override
        public long started() {
            return works.started(kind.ordinal());
        }

        @Override
        public long ended() {
            return works.ended(kind.ordinal());
        }

        @Override
        public long inFlight() {
            // in this order, as both only grow
            long ended = ended();
            return started() - ended;
        }

        @Override
        public long tokens() {
            return works.amount(kind.ordinal());
        }
    }

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
    public String gpu() {
        return stream.device();
    }

    @Override
    public List<GpuExpertCallMetrics> calls() {
        return calls;
    }

    @Override
    public long singleStarts() {
        return works.started(SINGLES);
    }

    @Override
    public long graphStarts() {
        return works.started(GRAPHS);
    }

    @Override
    public long refusedStarts() {
        return works.refusals();
    }

    @Override
    public long reached() {
        return stream.reached();
    }

    @Override
    public boolean hasFailed() {
        return words.hasFailed();
    }
}
