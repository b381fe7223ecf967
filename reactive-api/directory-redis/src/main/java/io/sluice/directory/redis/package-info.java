/** A directory in Redis: start at {@link io.sluice.directory.redis.RedisDirectory}. */
@NullMarked
package io.sluice.directory.redis;

import org.jspecify.annotations.NullMarked;
