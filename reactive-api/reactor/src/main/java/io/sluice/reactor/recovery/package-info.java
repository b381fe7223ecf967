/**
 * Connections that reconnect after a break, with pauses, a circuit breaker, and regions that are attached again.
 * Submitted operations are never repeated.
 */
@NullMarked
package io.sluice.reactor.recovery;

import org.jspecify.annotations.NullMarked;
