/**
 * From a socket to a connection or lane: the messages of the bootstrap, credentials and proofs, and the shares of
 * unauthenticated sockets. It uses sessions only through narrow interfaces. Internal.
 */
@NullMarked
package io.sluice.engine.bootstrap;

import org.jspecify.annotations.NullMarked;
