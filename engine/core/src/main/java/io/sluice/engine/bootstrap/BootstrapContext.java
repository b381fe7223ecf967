package io.sluice.engine.bootstrap;

import io.sluice.engine.EngineId;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.control.UnfinishedWork;
import io.sluice.engine.providers.Transports;

/**
 * An engine as its bootstraps see it.
 *
 * @param id its id
 * @param epoch its run
 * @param options its settings
 * @param credentials what it proves itself by
 * @param nonces where random bytes come from
 * @param handshakes its sockets that are not connections yet
 * @param transports what it can offer
 * @param unfinished what it waits for when it closes
 * @param sessions what becomes of a bootstrap that succeeds
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
