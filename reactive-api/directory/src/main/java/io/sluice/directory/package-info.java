/**
 * Engine discovery by name: an engine publishes its address and its named regions under a lease; others look them up,
 * watch them, and connect.
 *
 * <p>Start at {@link io.sluice.directory.Directory}; {@link io.sluice.directory.NamedConnections} keeps a connection to
 * the engine that has a name.
 */
@NullMarked
package io.sluice.directory;

import org.jspecify.annotations.NullMarked;
