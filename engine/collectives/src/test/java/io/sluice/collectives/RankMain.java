package io.sluice.collectives;

import io.sluice.engine.EngineAddress;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.TransferEngine;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** A rank in a process of its own, that calls all-reduce until it is killed. */
final class RankMain {
    private RankMain() {}

    /**
     * Runs it.
     *
     * @param arguments the transport, the rank, the number of ranks, the rendezvous, and how many elements
     */
    public static void main(String[] arguments) {
        TransferEngine engine = TransferEngine.open(
                PatientOptions.builder().transports(List.of(arguments[0])).build());
        Team team = Patience.await(Team.form(
                engine,
                TeamOptions.rank(Integer.parseInt(arguments[1]))
                        .of(Integer.parseInt(arguments[2]))
                        .rendezvous(EngineAddress.parse(arguments[3]))));
        long count = Long.parseLong(arguments[4]);
        MemoryRegion buffer = engine.allocate(4 * count, RegionOptions.local());
        while (true) {
            CompletableFuture<Void> ended = new CompletableFuture<>();
            team.allReduce(
                    buffer,
                    0,
                    buffer,
                    0,
                    count,
                    ElementType.INT32,
                    ReduceOperation.MAX,
                    CollectiveOptions.defaults(),
                    (called, error) -> ended.complete(null));
            Patience.await(ended);
        }
    }
}
