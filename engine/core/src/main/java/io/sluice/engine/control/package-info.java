/**
 * Bounded messages over a socket, plain or in TLS, and the work that a closing engine waits for. The basis of bootstrap
 * and control channel. Internal.
 */
@NullMarked
package io.sluice.engine.control;

import org.jspecify.annotations.NullMarked;
