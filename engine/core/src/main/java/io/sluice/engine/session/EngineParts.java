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
 * What the connections of an engine share.
 *
 * @param options the engine's settings
 * @param credentials what it proves itself by
 * @param loops what its transports have on its pollers
 * @param counters what they count into
 * @param window from which they take credits
 * @param regions what their peers may attach
 * @param unfinished what the engine waits for when it closes
 * @param observers told of the connections; null if there are none
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
