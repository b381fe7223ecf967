/**
 * One-sided transfers over TCP sockets.
 *
 * <p>A lane is a socket. It carries frames of a fixed header and, for writes and the answers to reads, a payload that goes
 * from registered memory to registered memory. Writes are acknowledged by a running count, many at once; reads are answered
 * in the order of asking. Everything of a connection happens on its event loop.
 */
@NullMarked
package io.sluice.engine.transport.tcp;

import org.jspecify.annotations.NullMarked;
