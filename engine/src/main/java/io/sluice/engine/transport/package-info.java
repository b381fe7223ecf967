/**
 * What a transport implements, and what the engine gives it. A transport is one package of its own below this one, found by
 * {@link java.util.ServiceLoader}; adding one touches no other package.
 *
 * <p>Threading: a {@link io.sluice.engine.transport.Transport} is called from any thread, an
 * {@link io.sluice.engine.transport.Endpoint} on the thread of its {@link io.sluice.engine.transport.EventLoop} alone.
 */
@NullMarked
package io.sluice.engine.transport;

import org.jspecify.annotations.NullMarked;
