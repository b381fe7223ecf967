/**
 * Connections that come back: made again after a break, with pauses, a circuit breaker, and regions that are attached again.
 * Nothing that was submitted is ever repeated.
 */
@NullMarked
package io.sluice.reactor.recovery;

import org.jspecify.annotations.NullMarked;
