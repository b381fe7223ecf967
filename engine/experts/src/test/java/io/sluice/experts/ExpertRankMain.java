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
import java.util.function.BooleanSupplier;

/** A rank in a process of its own, which dispatches and combines until it is killed. */
final class ExpertRankMain {
    private ExpertRankMain() {}

    /**
     * Runs it.
     *
     * @param arguments the transport, the rank, the number of ranks, and the address of rank 0
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
        Patience.await(calls(engine, buffer, () -> true).start());
    }

    /** Tokens of which each goes to all experts. */
    static RepeatedCalls calls(TransferEngine engine, ExpertBuffer buffer, BooleanSupplier another) {
        ExpertOptions options = buffer.options();
        int tokens = options.maxTokensPerRank();
        long slots = (long) tokens * options.topK();
        MemoryRegion topkIdx = engine.allocate(slots * Long.BYTES, RegionOptions.local());
        for (int slot = 0; slot < slots; slot++) {
            topkIdx.segment().setAtIndex(ValueLayout.JAVA_LONG, slot, slot % options.experts());
        }
        return new RepeatedCalls(
                buffer,
                engine.allocate((long) tokens * options.hidden() * Short.BYTES, RegionOptions.local()),
                topkIdx,
                engine.allocate(slots * Float.BYTES, RegionOptions.local()),
                engine.allocate((long) tokens * options.hidden() * Short.BYTES, RegionOptions.local()),
                tokens,
                DispatchOptions.defaults(),
                CombineOptions.defaults(),
                another);
    }
}
