package io.sluice.engine.session;

import io.sluice.engine.EngineOptions;
import io.sluice.engine.bootstrap.Credentials;
import io.sluice.engine.control.UnfinishedWork;
import io.sluice.engine.figures.EngineCounters;
import io.sluice.engine.flow.EngineWindow;
import io.sluice.engine.memory.RegionRegistry;
import io.sluice.engine.progress.Observers;
import io.sluice.engine.providers.TransportLoops;
import org.jspecify.annotations.Nullable;

/**
 * The parts that the connections of an engine share.
 *
 * @param options the engine's settings
 * @param credentials the engine's proofs of its identity
 * @param loops the loops of its transports on its pollers
 * @param counters the counters of the connections
 * @param window the engine's credits
 * @param regions the regions that peers may attach
 * @param unfinished the work that the engine waits for when it closes
 * @param observers observers of the connections; null if there are none
 */
record EngineParts(
        EngineOptions options,
        Credentials credentials,
        TransportLoops loops,
        EngineCounters counters,
        EngineWindow window,
        RegionRegistry regions,
        UnfinishedWork unfinished,
        @Nullable Observers observers) {}
