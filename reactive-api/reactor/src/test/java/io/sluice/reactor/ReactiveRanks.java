package io.sluice.reactor;

import io.sluice.collectives.TeamOptions;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.TransferEngine;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** The ranks of a team, each an engine of this process. */
final class ReactiveRanks implements AutoCloseable {
    private final List<TransferEngine> engines = new ArrayList<>();
    private final List<ReactiveTeam> teams = new ArrayList<>();

    private ReactiveRanks() {}

    static ReactiveRanks open(int size) {
        return open(size, "shm");
    }

    static ReactiveRanks open(int size, String... transports) {
        ReactiveRanks ranks = new ReactiveRanks();
        for (int i = 0; i < size; i++) {
            ranks.engines.add(TransferEngine.open(PatientOptions.builder()
                    .transports(List.of(transports))
                    .livenessTimeout(Patience.BOUND)
                    .build()));
        }
        return ranks;
    }

    static ReactiveRanks form(int size) {
        return form(size, "shm");
    }

    static ReactiveRanks form(int size, String... transports) {
        ReactiveRanks ranks = open(size, transports);
        ranks.teams.addAll(Flux.range(0, size)
                .flatMapSequential(ranks::forming)
                .collectList()
                .block(Patience.BOUND));
        return ranks;
    }

    Mono<ReactiveTeam> forming(int rank) {
        return ReactiveTeam.form(
                engines.get(rank),
                TeamOptions.rank(rank)
                        .of(engines.size())
                        .rendezvous(engines.getFirst().address())
                        .timeout(Patience.BOUND)
                        .formTimeout(Patience.BOUND));
    }

    TransferEngine engine(int rank) {
        return engines.get(rank);
    }

    ReactiveTeam team(int rank) {
        return teams.get(rank);
    }

    MemoryRegion region(int rank, long bytes) {
        return engines.get(rank).allocate(bytes, RegionOptions.local());
    }

    /** A region of a rank whose ints are all its number plus one. */
    MemoryRegion ints(int rank, int count) {
        MemoryRegion region = engines.get(rank).allocate(count * 4L, RegionOptions.local());
        for (int i = 0; i < count; i++) {
            region.segment().setAtIndex(ValueLayout.JAVA_INT, i, rank + 1);
        }
        return region;
    }

    /** What all ranks do, at once; in the order of the ranks. */
    <T> Flux<T> all(Function<Integer, ? extends Publisher<T>> onRank) {
        return Flux.fromStream(() -> IntStream.range(0, teams.size()).boxed()).flatMapSequential(onRank);
    }

    @Override
    public void close() {
        Flux.fromIterable(teams).flatMap(ReactiveTeam::close).blockLast(Patience.BOUND);
        engines.stream().map(TransferEngine::closeAsync).toList().forEach(Patience::await);
    }
}
