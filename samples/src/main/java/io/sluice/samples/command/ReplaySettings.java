package io.sluice.samples.command;

import io.sluice.engine.EngineAddress;
import io.sluice.engine.EngineOptions;
import io.sluice.samples.decode.PoolMemory;
import io.sluice.samples.kvcache.ModelPreset;
import io.sluice.samples.replay.ReplayPlan;
import io.sluice.samples.replay.TraceChoice;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * All that a replay is told.
 *
 * @param trace where the requests come from
 * @param plan how many of them, and when
 * @param model whose pages move
 * @param seed for the content of the pages
 * @param poolBytes size of the page pool of the decode process that is started
 * @param poolMemory whether that process touches its pool first
 * @param engine settings of the prefill side's engine, which does not listen
 * @param engineArguments the options about its engine for the decode process that is started
 * @param decode where a decode side runs already, or {@code null} to start one
 * @param patience how long to wait for a decode side that is gone before giving up, or {@code null} to give up at once
 * @param json where the summary goes as JSON, or {@code null}
 */
record ReplaySettings(
        TraceChoice trace,
        ReplayPlan plan,
        ModelPreset model,
        long seed,
        long poolBytes,
        PoolMemory poolMemory,
        EngineOptions engine,
        List<String> engineArguments,
        @Nullable EngineAddress decode,
        @Nullable Duration patience,
        @Nullable Path json) {}
