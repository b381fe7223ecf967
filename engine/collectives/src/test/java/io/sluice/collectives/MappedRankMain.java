package io.sluice.collectives;

import io.sluice.engine.EngineAddress;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.TransferEngine;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/** A rank in a process of its own, whose memory the others read, that calls all-reduce until it fails or is killed. */
final class MappedRankMain {
    private MappedRankMain() {}

    /**
     * Runs it.
     *
     * @param arguments the rank, the number of ranks, the rendezvous, and how many elements
     */
    public static void main(String[] arguments) {
        TransferEngine engine = open();
        Team team = Patience.await(Team.form(
                engine,
                TeamOptions.rank(Integer.parseInt(arguments[0]))
                        .of(Integer.parseInt(arguments[1]))
                        .rendezvous(EngineAddress.parse(arguments[2]))));
        int count = Integer.parseInt(arguments[3]);
        MemoryRegion buffer = engine.allocate(8L * count, RegionOptions.readOnly());
        Patience.await(callUntil(team, buffer, count, error -> error != null));
    }

    static TransferEngine open() {
        return TransferEngine.open(
                PatientOptions.builder().transports(List.of("shm")).build());
    }

    /**
     * Calls all-reduce again and again, out of the first half of a buffer into the second.
     *
     * @param last takes the error of each, or null; true after the last
     * @return completes at the end, or with the error of the last one
     */
    static CompletableFuture<Void> callUntil(
            Team team, MemoryRegion buffer, int count, Function<Throwable, Boolean> last) {
        CompletableFuture<Void> ended = new CompletableFuture<>();
        team.allReduce(
                buffer,
                0,
                buffer,
                4L * count,
                count,
                ElementType.INT32,
                ReduceOperation.MAX,
                CollectiveOptions.defaults().withAlgorithm(Algorithm.MAPPED),
                (called, error) -> {
                    if (error == null) {
                        ended.complete(null);
                    } else {
                        ended.completeExceptionally(error);
                    }
                });
        return ended.handle((nothing, error) -> error)
                .thenComposeAsync(error -> Boolean.TRUE.equals(last.apply(error))
                        ? error == null
                                ? CompletableFuture.completedFuture(null)
                                : CompletableFuture.failedFuture(error)
                        : callUntil(team, buffer, count, last));
    }
}
