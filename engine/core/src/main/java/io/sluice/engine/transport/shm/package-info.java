/**
 * Transfers between processes of one host through shared memory. A region that the engine allocates is a sealed
 * anonymous file. A peer that attaches it receives the file over a Unix socket and maps it once; from then on the
 * initiator executes each transfer alone, as a copy or a processor's atomic operation, small ones on the calling
 * thread. Notifications and doorbells go through a control segment that both sides map. A region over the user's memory
 * uses cross-memory attach if both sides have enabled it and the kernel allows it, and otherwise the connection's tcp
 * path.
 *
 * <p>The peer's input is not trusted: descriptors are checked before they are mapped, and every number read from the
 * control segment is checked before use.
 */
@NullMarked
package io.sluice.engine.transport.shm;

import org.jspecify.annotations.NullMarked;
