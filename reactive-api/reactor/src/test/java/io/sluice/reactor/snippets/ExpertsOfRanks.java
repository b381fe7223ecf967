package io.sluice.reactor.snippets;

import io.sluice.engine.MemoryRegion;
import io.sluice.experts.CombineOptions;
import io.sluice.experts.DispatchFormat;
import io.sluice.experts.DispatchOptions;
import io.sluice.experts.ExpertOptions;
import io.sluice.experts.LowLatencyResult;
import io.sluice.reactor.ReactiveExpertBuffer;
import io.sluice.reactor.ReactiveTeam;
import java.util.function.Consumer;
import reactor.core.publisher.Mono;

/** Expert parallelism, for its page. */
final class ExpertsOfRanks {
    private static final DispatchOptions FP8 = DispatchOptions.defaults().withFormat(DispatchFormat.FP8);
    private static final CombineOptions BF16 = CombineOptions.defaults();

    private ExpertsOfRanks() {}

    static Mono<MemoryRegion> mix(
            ReactiveTeam team,
            MemoryRegion x,
            MemoryRegion topkIdx,
            MemoryRegion weights,
            MemoryRegion out,
            int tokens,
            Consumer<LowLatencyResult> runExperts) {
        // begin
        ExpertOptions options =
                ExpertOptions.experts(256).hidden(7168).maxTokensPerRank(128).topK(8);
        Mono<MemoryRegion> mixed = Mono.usingWhen(
                ReactiveExpertBuffer.create(team, options),
                buffer -> buffer.lowLatencyDispatch(x, 0, topkIdx, 0, tokens, FP8)
                        .doOnNext(runExperts)
                        .flatMap(rows -> buffer.lowLatencyCombine(
                                        rows, rows.combineBuffer(), 0, topkIdx, 0, weights, 0, out, 0, BF16)
                                .doFinally(end -> rows.close())),
                ReactiveExpertBuffer::close);
        // end
        return mixed;
    }
}
