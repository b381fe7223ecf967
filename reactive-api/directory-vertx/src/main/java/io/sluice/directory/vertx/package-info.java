/** A directory in the shared data of a clustered Vert.x: start at {@link io.sluice.directory.vertx.VertxDirectory}. */
@NullMarked
package io.sluice.directory.vertx;

import org.jspecify.annotations.NullMarked;
