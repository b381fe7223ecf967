/**
 * One-sided transfers over TCP sockets.
 *
 * <p>A lane is a socket. It carries frames of a fixed header and, for writes and answers to reads, a payload that goes
 * from registered memory to registered memory. A running count acknowledges writes, many at once; reads are answered in
 * request order. Everything of a connection happens on its event loop.
 */
@NullMarked
package io.sluice.engine.transport.tcp;

import org.jspecify.annotations.NullMarked;
