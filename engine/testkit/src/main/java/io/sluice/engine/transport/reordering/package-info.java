/**
 * A transport for tests, which exposes the engine to all the reordering of a network, which the contract must hide.
 *
 * <p>Each work request is cut into packets. The packets of all requests take turns on a lane, which is a socket. What
 * arrives is first held by a {@link io.sluice.engine.transport.reordering.Wire}, which delays packets, lets later ones
 * overtake them, and delivers some several times. Behind it a
 * {@link io.sluice.engine.transport.reordering.DuplicateFilter} hides what was delivered before, and nothing else: packets
 * of a write land in any order, requests take effect and are answered in any order, and answers arrive in any order.
 * The transport still promises: a packet takes effect once, a request is answered after all of its packets took effect,
 * and a write's signal comes after all of its bytes.
 *
 * <p>A {@link io.sluice.engine.transport.reordering.Disorder} decides by a hash of the seed, the connection, the lane and
 * the packet's number, so that the same seed gives each packet the same fate.
 */
@NullMarked
package io.sluice.engine.transport.reordering;

import org.jspecify.annotations.NullMarked;
