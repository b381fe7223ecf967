/** A service that moves blocks of a KV-cache between inference nodes: two Vert.x verticles that talk over the event bus. */
@NullMarked
package io.sluice.samples.mover;

import org.jspecify.annotations.NullMarked;
