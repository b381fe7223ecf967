package io.sluice.collectives.cuda;

import io.sluice.collectives.CollectiveKind;
import io.sluice.collectives.Team;
import io.sluice.cuda.GpuStream;
import io.sluice.cuda.GpuWorkFigures;
import io.sluice.cuda.GpuWorkFigures.Tally;
import java.util.List;
import java.util.stream.IntStream;

/** Counts starts of a team's collectives. One thread at a time starts, any reads. */
final class GpuTeamCounters implements GpuTeamMetrics {
    private static final CollectiveKind[] KINDS = CollectiveKind.values();
    private static final GpuAlgorithm[] ALGORITHMS = GpuAlgorithm.values();
    private static final int SINGLES = KINDS.length * ALGORITHMS.length;
    private static final int GRAPHS = SINGLES + 1;

    private final Team team;
    private final GpuStream stream;
    private final TeamWords words;
    private final GpuWorkFigures works;
    private final List<GpuCollectiveMetrics> all;

    GpuTeamCounters(Team team, GpuStream stream, TeamWords words) {
        this.team = team;
        this.stream = stream;
        this.words = words;
        this.works = new GpuWorkFigures(stream, GRAPHS + 1);
        this.all = IntStream.range(0, SINGLES)
                .<GpuCollectiveMetrics>mapToObj(OfKind::new)
                .toList();
    }

    static Tally tally(CollectiveKind kind, GpuAlgorithm algorithm, long bytes) {
        return Tally.of(kind.ordinal() * ALGORITHMS.length + algorithm.ordinal(), bytes);
    }

    /** What a start of one counts. */
    static Tally single(Tally collective) {
        return Tally.of(List.of(collective, Tally.of(SINGLES, 0)));
    }

    /** What a start of several together counts. */
    static Tally graph(List<Tally> collectives) {
        return Tally.of(List.of(Tally.of(collectives), Tally.of(GRAPHS, 0)));
    }

    void started(Tally what, long number) {
        works.started(what, number);
    }

    void refused() {
        works.refused();
    }

    /** Those of one kind and algorithm. */
    private final class OfKind implements GpuCollectiveMetrics {
        private final int index;

        OfKind(int index) {
            this.index = index;
        }

        @Override
        public CollectiveKind kind() {
            return KINDS[index / ALGORITHMS.length];
        }

        @Override
        public GpuAlgorithm algorithm() {
            return ALGORITHMS[index % ALGORITHMS.length];
        }

        @Override
        public long started() {
            return works.started(index);
        }

        @Override
        public long ended() {
            return works.ended(index);
        }

        @Override
        public long inFlight() {
            // in this order, as both only grow
            long ended = ended();
            return started() - ended;
        }

        @Override
        public long bytes() {
            return works.amount(index);
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
    public List<GpuCollectiveMetrics> collectives() {
        return all.stream().filter(each -> each.started() > 0).toList();
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
