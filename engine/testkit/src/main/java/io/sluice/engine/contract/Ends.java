package io.sluice.engine.contract;

import io.sluice.engine.EngineOptions;
import java.util.function.Consumer;

/** The processes at the two ends of a connection. */
enum Ends {
    /** Two engines of this process. */
    TWO_ENGINES,
    /** One engine, connected to itself. */
    ONE_ENGINE;

    EnginePair open(TransportUnderTest transport) {
        return open(transport, both -> {});
    }

    EnginePair open(TransportUnderTest transport, Consumer<EngineOptions.Builder> options) {
        return this == ONE_ENGINE ? EnginePair.toItself(transport, options) : EnginePair.open(transport, options);
    }
}
