package io.sluice.experts.cuda;

import static io.sluice.testkit.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.MemoryRegion;
import io.sluice.experts.ExpertBuffer;
import io.sluice.experts.ExpertCallback;
import io.sluice.experts.NormalHandle;
import io.sluice.experts.NormalLayout;
import io.sluice.experts.NormalOptions;
import io.sluice.experts.NormalResult;
import io.sluice.testkit.Patience;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.IntFunction;

/** Makes the same calls on GPUs and on memory of the host, and compares all bytes that they give. */
final class NormalRun implements AutoCloseable {
    private static final int GUARD = NormalMemory.GUARD;

    private final GpuExpertRanks ranks;
    private final List<ExpertBuffer> hosts;
    private final NormalData data;
    private final NormalShape shape;
    private final NormalOptions options;
    private final boolean isBiased;
    private final String name;
    private final boolean isInGraphs;
    private final List<Rank> all = new ArrayList<>();

    /** What a rank has. */
    private static final class Rank {
        NormalMemory x;
        NormalMemory choices;
        NormalMemory weights;
        NormalMemory bias;
        NormalMemory y;
        NormalMemory out;
        GpuNormalLayout layout;
        GpuNormalDispatch dispatch;
        NormalLayout hostLayout;
        NormalHandle hostHandle;
    }

    NormalRun(
            GpuExpertRanks ranks,
            List<ExpertBuffer> hosts,
            NormalData data,
            NormalOptions options,
            boolean isBiased,
            boolean isInGraphs,
            String name) {
        this.ranks = ranks;
        this.hosts = hosts;
        this.data = data;
        this.shape = data.shape();
        this.options = options;
        this.isBiased = isBiased;
        this.name = name;
        this.isInGraphs = isInGraphs;
        for (int rank = 0; rank < shape.ranks(); rank++) {
            Rank each = new Rank();
            each.x = memory(rank, MemorySegment.ofArray(data.x()[rank]));
            each.choices = memory(rank, MemorySegment.ofArray(data.choices()[rank]));
            each.weights = memory(rank, MemorySegment.ofArray(data.weights()[rank]));
            each.bias = memory(rank, MemorySegment.ofArray(data.bias()[rank]));
            each.y = new NormalMemory(ranks, rank, (long) shape.capacity() * rowBytes());
            each.out = new NormalMemory(ranks, rank, data.tokens()[rank] * rowBytes());
            GpuNormalMode mode = mode(rank);
            each.layout = mode.prepareLayout(each.choices.gpu, GUARD, data.tokens()[rank]);
            each.dispatch = mode.prepareDispatch(
                    each.x.gpu, GUARD, each.choices.gpu, GUARD, each.weights.gpu, GUARD, each.layout, options);
            all.add(each);
        }
    }

    private NormalMemory memory(int rank, MemorySegment from) {
        NormalMemory made = new NormalMemory(ranks, rank, from.byteSize());
        made.put(from);
        return made;
    }

    private long rowBytes() {
        return (long) shape.hidden() * Short.BYTES;
    }

    private GpuNormalMode mode(int rank) {
        return ranks.buffer(rank).normalMode();
    }

    /** Layout, dispatch and combine, then the last two with a handle. */
    void round() {
        start(rank -> List.of(all.get(rank).layout, all.get(rank).dispatch));
        for (int rank = 0; rank < shape.ranks(); rank++) {
            Rank own = all.get(rank);
            own.hostLayout = hosts.get(rank).layout(own.choices.host, GUARD, data.tokens()[rank], own.hostLayout);
            checkLayout(own, rank);
        }
        List<NormalResult> results = onHosts((rank, callback) -> {
            Rank own = all.get(rank);
            hosts.get(rank)
                    .dispatch(
                            own.x.host,
                            GUARD,
                            own.choices.host,
                            GUARD,
                            own.weights.host,
                            GUARD,
                            own.hostLayout,
                            options,
                            callback);
        });
        for (int rank = 0; rank < shape.ranks(); rank++) {
            check(results.get(rank), all.get(rank).dispatch.result(), rank, "");
            all.get(rank).hostHandle = results.get(rank).handle();
        }
        combine(results);
        poison();
        again();
        all.forEach(each -> each.hostHandle.close());
    }

    /** Starts calls of each rank one by one, or in a graph, and waits for them. */
    private void start(IntFunction<List<GpuNormalCall>> calls) {
        if (!isInGraphs) {
            int count = calls.apply(0).size();
            for (int i = 0; i < count; i++) {
                int call = i;
                ranks.run(rank -> calls.apply(rank).get(call)::start);
            }
            return;
        }
        List<GpuExpertGraph> graphs = new ArrayList<>();
        for (int rank = 0; rank < shape.ranks(); rank++) {
            GpuExpertGraph.Builder graph = ranks.buffer(rank).graph();
            calls.apply(rank).forEach(graph::call);
            graphs.add(graph.build());
        }
        // the second replay has the same results
        ranks.run(rank -> graphs.get(rank)::start);
        ranks.run(rank -> graphs.get(rank)::start);
        graphs.forEach(GpuExpertGraph::close);
    }

    private void again() {
        List<GpuNormalDispatch> again = new ArrayList<>();
        for (int rank = 0; rank < shape.ranks(); rank++) {
            Rank own = all.get(rank);
            again.add(mode(rank).prepareDispatchAgain(own.x.gpu, GUARD, own.dispatch.handle(), options));
        }
        start(rank -> List.of(again.get(rank)));
        List<NormalResult> results = onHosts((rank, callback) -> hosts.get(rank)
                .dispatchAgain(all.get(rank).x.host, GUARD, all.get(rank).hostHandle, options, callback));
        for (int rank = 0; rank < shape.ranks(); rank++) {
            check(results.get(rank), again.get(rank).result(), rank, " again");
        }
        combine(results);
        again.forEach(GpuNormalDispatch::close);
    }

    /** What was dispatched and combined before is gone. */
    private void poison() {
        for (int rank = 0; rank < shape.ranks(); rank++) {
            GpuNormalResult result = all.get(rank).dispatch.result();
            List<MemoryRegion> regions = new ArrayList<>(List.of(result.tokens(), result.sources(), result.counts()));
            result.scales().ifPresent(regions::add);
            result.choices().ifPresent(regions::add);
            result.weights().ifPresent(regions::add);
            for (MemoryRegion region : regions) {
                ranks.bytes(rank, region).fill(0x5A);
            }
            all.get(rank).out.poison();
        }
    }

    private <R> List<R> onHosts(HostCall<R> call) {
        List<CompletableFuture<R>> ended = new ArrayList<>();
        for (int rank = 0; rank < shape.ranks(); rank++) {
            CompletableFuture<R> end = new CompletableFuture<>();
            call.on(rank, (result, error) -> {
                if (error == null) {
                    end.complete(result);
                } else {
                    end.completeExceptionally(error);
                }
            });
            ended.add(end);
        }
        return ended.stream().map(Patience::await).toList();
    }

    private interface HostCall<R> {
        void on(int rank, ExpertCallback<R> callback);
    }

    private void checkLayout(Rank own, int rank) {
        MemorySegment toRanks = ranks.bytes(rank, own.layout.tokensToRanks()).get();
        MemorySegment toExperts =
                ranks.bytes(rank, own.layout.tokensToExperts()).get();
        MemorySegment positions = ranks.bytes(rank, own.layout.positions()).get();
        for (int target = 0; target < shape.ranks(); target++) {
            assertThat(toRanks.getAtIndex(ValueLayout.JAVA_INT, target))
                    .as("%s: tokens from rank %s to rank %s", name, rank, target)
                    .isEqualTo(own.hostLayout.tokensToRank(target));
            int next = 0;
            for (int token = 0; token < data.tokens()[rank]; token++) {
                assertThat(positions.getAtIndex(ValueLayout.JAVA_INT, (long) token * shape.ranks() + target))
                        .as("%s: position of token %s of rank %s at rank %s", name, token, rank, target)
                        .isEqualTo(data.goesTo(rank, token, target) ? next++ : -1);
            }
        }
        for (int expert = 0; expert < shape.experts(); expert++) {
            assertThat(toExperts.getAtIndex(ValueLayout.JAVA_INT, expert))
                    .as("%s: choices of expert %s by rank %s", name, expert, rank)
                    .isEqualTo(own.hostLayout.tokensToExpert(expert));
        }
    }

    private void check(NormalResult host, GpuNormalResult gpu, int rank, String form) {
        String what = name + form + ": rank " + rank;
        assertThat(gpu.received()).as("received, %s", what).isEqualTo(host.received());
        assertThat(gpu.rows()).as("rows, %s", what).isEqualTo(host.rows());
        for (int source = 0; source < shape.ranks(); source++) {
            assertThat(gpu.firstRow(source))
                    .as("first row from %s, %s", source, what)
                    .isEqualTo(host.firstRow(source));
            assertThat(gpu.rowsFrom(source))
                    .as("rows from %s, %s", source, what)
                    .isEqualTo(host.rowsFrom(source));
        }
        MemorySegment counts = ranks.bytes(rank, gpu.counts()).get();
        for (int expert = 0; expert < shape.experts() / shape.ranks(); expert++) {
            assertThat(gpu.count(expert))
                    .as("count of expert %s, %s", expert, what)
                    .isEqualTo(host.count(expert));
            assertThat(counts.getAtIndex(ValueLayout.JAVA_INT, expert))
                    .as("count of expert %s, %s", expert, what)
                    .isEqualTo(host.count(expert));
        }
        long elementBytes = host.format().isQuantised() ? 1 : 2;
        same(host.tokens(), gpu.tokens(), rank, host.received() * shape.hidden() * elementBytes, "tokens, " + what);
        same(host.sources(), gpu.sources(), rank, host.rows() * 4L, "sources, " + what);
        assertThat(gpu.scales().isPresent()).isEqualTo(host.scales().isPresent());
        host.scales()
                .ifPresent(scales -> same(
                        scales,
                        gpu.scales().orElseThrow(),
                        rank,
                        host.received() * scales.byteSize() / shape.capacity(),
                        "scales, " + what));
        assertThat(gpu.choices().isPresent()).isEqualTo(host.choices().isPresent());
        host.choices()
                .ifPresent(choices -> same(
                        choices,
                        gpu.choices().orElseThrow(),
                        rank,
                        host.rows() * shape.topK() * 8L,
                        "choices, " + what));
        host.weights()
                .ifPresent(weights -> same(
                        weights,
                        gpu.weights().orElseThrow(),
                        rank,
                        host.rows() * shape.topK() * 4L,
                        "weights, " + what));
    }

    private void same(MemorySegment host, MemoryRegion gpu, int rank, long bytes, String what) {
        assertThat(gpu.length()).as("length of %s", what).isEqualTo(host.byteSize());
        MemorySegment found = ranks.bytes(rank, gpu).get();
        assertThat(found.asSlice(0, bytes).mismatch(host.asSlice(0, bytes)))
                .as("first different byte of %s", what)
                .isEqualTo(-1);
    }

    /** Makes outputs of the rows, combines them, and compares the sums with those of the host and their definition. */
    private void combine(List<NormalResult> results) {
        List<GpuNormalCombine> combines = new ArrayList<>();
        for (int rank = 0; rank < shape.ranks(); rank++) {
            Rank own = all.get(rank);
            NormalResult result = results.get(rank);
            for (int source = 0; source < shape.ranks(); source++) {
                for (int i = 0; i < result.rowsFrom(source); i++) {
                    int row = result.firstRow(source) + i;
                    int token = result.sources().getAtIndex(ValueLayout.JAVA_INT, row);
                    own.y.put(row * rowBytes(), MemorySegment.ofArray(data.output(source, token, rank)));
                }
            }
            own.y.push();
            combines.add(mode(rank)
                    .prepareCombine(
                            own.dispatch.handle(),
                            own.y.gpu,
                            GUARD,
                            isBiased ? own.bias.gpu : null,
                            GUARD,
                            own.out.gpu,
                            GUARD,
                            null));
            result.close();
        }
        start(rank -> List.of(combines.get(rank)));
        onHosts((HostCall<MemoryRegion>) (rank, callback) -> {
            Rank own = all.get(rank);
            hosts.get(rank)
                    .combine(
                            own.hostHandle,
                            own.y.host,
                            GUARD,
                            isBiased ? own.bias.host : null,
                            GUARD,
                            own.out.host,
                            GUARD,
                            null,
                            callback);
        });
        for (int rank = 0; rank < shape.ranks(); rank++) {
            Rank own = all.get(rank);
            own.out.checkSame("sums of rank " + rank + ", " + name);
            for (int token = 0; token < data.tokens()[rank]; token++) {
                assertThat(own.out
                                .hostBytes(token * rowBytes(), rowBytes())
                                .mismatch(MemorySegment.ofArray(data.sum(rank, token, isBiased))))
                        .as("first different byte of the sum of token %s of rank %s, %s", token, rank, name)
                        .isEqualTo(-1);
            }
            for (NormalMemory input : List.of(own.x, own.choices, own.weights, own.bias, own.y)) {
                input.checkSame("an input of rank " + rank + ", " + name);
            }
        }
        combines.forEach(GpuNormalCombine::close);
    }

    /** Gives the calls back; the buffers stay. */
    @Override
    public void close() {
        for (Rank each : all) {
            each.dispatch.close();
            each.dispatch.handle().close();
            each.layout.close();
            for (NormalMemory memory : List.of(each.x, each.choices, each.weights, each.bias, each.y, each.out)) {
                await(memory.gpu.close());
                await(memory.host.close());
            }
        }
    }
}
