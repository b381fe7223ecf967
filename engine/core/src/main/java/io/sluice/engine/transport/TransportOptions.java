package io.sluice.engine.transport;

import io.sluice.engine.EngineOptions;

/** Settings that one transport alone has; given by {@link EngineOptions.Builder#transport}. Immutable. */
public interface TransportOptions {}
