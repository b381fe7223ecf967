/**
 * Bounded messages over a socket, plain or in TLS, and what an engine that closes waits for. The ground of bootstrap and
 * control channel. Internal.
 */
@NullMarked
package io.sluice.engine.control;

import org.jspecify.annotations.NullMarked;
