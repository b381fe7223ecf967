package io.sluice.engine.providers;

import io.sluice.engine.transport.Transport;

/**
 * A transport that the engine has opened.
 *
 * @param name its provider's
 * @param index its place among the engine's transports, 0 for the most preferred
 * @param transport itself
 */
public record OpenTransport(String name, int index, Transport transport) {}
