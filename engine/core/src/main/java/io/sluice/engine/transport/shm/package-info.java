/**
 * Transfers between processes of one host, by shared memory. A region that the engine allocates is a sealed anonymous
 * file; a peer that attaches it gets the file over a Unix socket, maps it once, and from then on the side that starts a
 * transfer carries it out alone, as a copy or a processor's atomic operation, small ones in the calling thread.
 * Notifications and doorbells go through a control segment that both sides map. A region over the user's memory uses
 * cross-memory attach if both sides have enabled it and the kernel allows it, and otherwise the connection's tcp path.
 *
 * <p>Input from the peer is never trusted: descriptors are checked before they are mapped, and every number that is
 * read from the control segment is checked before it is used.
 */
@NullMarked
package io.sluice.engine.transport.shm;

import org.jspecify.annotations.NullMarked;
