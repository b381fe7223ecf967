/**
 * From a socket to a connection or a lane: what the two sides say before, credentials and proofs, and the shares of sockets
 * that have proved nothing yet. It knows the sessions that come of it by narrow interfaces alone. Internal.
 */
@NullMarked
package io.sluice.engine.bootstrap;

import org.jspecify.annotations.NullMarked;
