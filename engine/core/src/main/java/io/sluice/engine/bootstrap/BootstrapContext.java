package io.sluice.engine.bootstrap;

import io.sluice.engine.EngineId;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.control.UnfinishedWork;
import io.sluice.engine.providers.Transports;

/**
 * The parts of an engine that its bootstraps need.
 *
 * @param id the engine's identity
 * @param epoch the engine's epoch
 * @param options the engine's options
 * @param credentials the engine's credentials
 * @param nonces the source of random bytes
 * @param handshakes the sockets that are not connections yet
 * @param transports the transports that it can offer
 * @param unfinished the work that a closing engine waits for
 * @param sessions creates the session of a successful bootstrap
 */
public record BootstrapContext(
        EngineId id,
        long epoch,
        EngineOptions options,
        Credentials credentials,
        NonceSource nonces,
        Handshakes handshakes,
        Transports transports,
        UnfinishedWork unfinished,
        SessionRegistry sessions) {}
