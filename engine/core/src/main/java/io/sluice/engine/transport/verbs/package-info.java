/**
 * RDMA through libibverbs: InfiniBand, RoCE and softRoCE. A {@link io.sluice.engine.transport.verbs.VerbsLane lane} is
 * a reliable connected queue pair. Reads, writes and atomic operations of the adapter's domain need no code at the
 * target; signals, atomic operations of the target's processors and notifications are messages (SEND, or WRITE with an
 * immediate), which the target's engine answers. When a lane breaks, both sides fence it over the control channel and
 * report which messages have arrived, so that each is executed exactly once.
 *
 * <p>Code that follows the InfiniBand Architecture Specification (volume 1, release 1.4: chapters 9 and 10) names the
 * section.
 */
@NullMarked
package io.sluice.engine.transport.verbs;

import org.jspecify.annotations.NullMarked;
