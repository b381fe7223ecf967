package io.sluice.samples.command;

import io.sluice.cuda.GpuInfo;
import io.sluice.samples.bench.Api;
import io.sluice.samples.bench.Bench;
import io.sluice.samples.bench.BenchOperation;
import io.sluice.samples.bench.BenchPlan;
import io.sluice.samples.bench.Buffers;
import io.sluice.samples.bench.MemoryPlace;
import io.sluice.samples.bench.RegionMemory;
import io.sluice.samples.command.BenchCommand.BenchRun;
import io.sluice.samples.kvcache.ModelPreset;
import io.sluice.samples.report.ByteSize;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The demo between two GPUs, each with a process: lists of a model's scattered pages go from one to the other, and every page is
 * compared with what was sent.
 *
 * @param model whose pages move
 * @param memory the GPU of this process
 * @param duration how long they do
 */
record GpuDemo(ModelPreset model, MemoryPlace memory, Duration duration) {
    /** 1,000 tokens of a conversation. */
    private static final int PAGES_OF_A_LAYER = 64;

    private static final int LISTS = 4;

    int run(ProgramCommand command, TransportOption transport, @Nullable String json, MetricsEndpoint watched)
            throws IOException {
        MemoryPlace here = GpuMemory.locate("--memory", memory);
        MemoryPlace there = other(here);
        int pages = PAGES_OF_A_LAYER * model.layers();
        BenchPlan plan = new BenchPlan(
                BenchOperation.WRITE_PAGES,
                Api.ENGINE,
                List.of((long) model.pageBytes()),
                LISTS * pages,
                pages,
                1,
                Buffers.SCATTERED,
                RegionMemory.ALLOCATED,
                here,
                there,
                duration,
                Duration.ZERO,
                true,
                false);
        command.say(
                String.format(Locale.ROOT, """
                    Two processes on this machine play a model service that is split in two, each with a GPU:
                      prefill (this one) has the KV-cache of a request in memory of %s, here made-up bytes,
                      decode (another one) holds its page pool in memory of %s.
                    The model is %s: a list of %d pages of %s, scattered on both sides, goes over by one call. The GPU of
                    prefill copies into that of decode; no processor touches a page. Then all are read back and compared.
                    """, here, there, model.name(), pages, ByteSize.format(model.pageBytes())));
        BenchOutput output = new BenchOutput(json, command.spec.commandLine());
        BenchRun run = new BenchRun(
                plan,
                Bench.fit(transport.engineOptions(), plan).build(),
                transport.arguments(),
                output,
                watched,
                command.termination,
                command.termination::isRequested);
        int status = run.againstOwnProcess(List.of());
        if (status == ExitCodes.OK) {
            command.say("\nEvery page that was moved arrived as it was sent. For other sizes and memory: sluice bench");
        }
        return status;
    }

    /** Another GPU than this process's, or the same if there is but one. */
    private static MemoryPlace other(MemoryPlace here) {
        return GpuInfo.all().stream()
                .filter(gpu -> !gpu.id().equals(here.device()))
                .findFirst()
                .map(gpu -> new MemoryPlace("cuda:" + gpu.ordinal(), gpu.id()))
                .orElse(here);
    }
}
