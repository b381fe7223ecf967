/** Transfers for Vert.x: {@code Future}, {@code ReadStream} and {@code WriteStream} on the caller's context. */
@NullMarked
package io.sluice.vertx;

import org.jspecify.annotations.NullMarked;
