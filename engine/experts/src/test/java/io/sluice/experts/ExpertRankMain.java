package io.sluice.experts;

import io.sluice.collectives.Team;
import io.sluice.collectives.TeamOptions;
import io.sluice.engine.EngineAddress;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.TransferEngine;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;

/** A rank in a process of its own, which dispatches and combines until it is killed. */
final class ExpertRankMain {
    private ExpertRankMain() {}

    /** What it calls again and again. */
    enum Mode {
        LOW_LATENCY,
        NORMAL
    }

    /**
     * Runs it.
     *
     * @param arguments the transport, the rank, the number of ranks, the address of rank 0, and the mode
     */
    public static void main(String[] arguments) {
        TransferEngine engine = TransferEngine.open(
                PatientOptions.builder().transports(List.of(arguments[0])).build());
        Team team = Patience.await(Team.form(
                engine,
                TeamOptions.rank(Integer.parseInt(arguments[1]))
                        .of(Integer.parseInt(arguments[2]))
                        .rendezvous(EngineAddress.parse(arguments[3]))
                        .formTimeout(Patience.longBound())));
        ExpertBuffer buffer = Patience.await(ExpertBuffer.create(team, KilledExpertRankTest.OPTIONS));
        Patience.await(call(Mode.valueOf(arguments[4]), engine, buffer, () -> true));
    }

    /** Dispatches tokens of which each goes to all experts, and combines; completes when there is no other round. */
    static CompletableFuture<Void> call(
            Mode mode, TransferEngine engine, ExpertBuffer buffer, BooleanSupplier another) {
        ExpertOptions options = buffer.options();
        int tokens = options.maxTokensPerRank();
        long slots = (long) tokens * options.topK();
        MemoryRegion topkIdx = engine.allocate(slots * Long.BYTES, RegionOptions.local());
        for (int slot = 0; slot < slots; slot++) {
            topkIdx.segment().setAtIndex(ValueLayout.JAVA_LONG, slot, slot % options.experts());
        }
        long bytes = (long) tokens * options.hidden() * Short.BYTES;
        MemoryRegion x = engine.allocate(bytes, RegionOptions.local());
        MemoryRegion weights = engine.allocate(slots * Float.BYTES, RegionOptions.local());
        return switch (mode) {
            case LOW_LATENCY ->
                new RepeatedCalls(
                                buffer,
                                x,
                                topkIdx,
                                weights,
                                engine.allocate(bytes, RegionOptions.local()),
                                tokens,
                                DispatchOptions.defaults(),
                                CombineOptions.defaults(),
                                another)
                        .start();
            case NORMAL ->
                new RepeatedNormalCalls(
                                buffer,
                                x,
                                topkIdx,
                                weights,
                                engine.allocate(buffer.ranks() * bytes, RegionOptions.local()),
                                another)
                        .start();
        };
    }
}
