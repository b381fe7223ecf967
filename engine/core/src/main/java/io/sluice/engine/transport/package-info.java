/**
 * The interfaces that a transport implements, and those that the engine offers it. A transport is a separate package or
 * artifact, found by {@link java.util.ServiceLoader}; adding one changes no other package.
 *
 * <p>Threading: a {@link io.sluice.engine.transport.Transport} is called from any thread, a {@link
 * io.sluice.engine.transport.TransportLoop} and its {@link io.sluice.engine.transport.Endpoint}s on the thread of their
 * {@link io.sluice.engine.transport.EventLoop} only.
 */
@NullMarked
package io.sluice.engine.transport;

import org.jspecify.annotations.NullMarked;
