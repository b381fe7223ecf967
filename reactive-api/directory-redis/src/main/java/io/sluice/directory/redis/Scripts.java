package io.sluice.directory.redis;

import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.reactive.RedisReactiveCommands;
import java.util.List;
import reactor.core.publisher.Mono;

/**
 * Scripts that Redis executes atomically. The first key is that of the value, the second the index; the arguments are
 * the bare key, then those of the script.
 */
enum Scripts {
    /** Compares and sets a value: channel, lease, time to live, new value, whether a value is expected, that value. */
    REPLACE("""
            local held = redis.call('get', KEYS[1])
            if ARGV[6] == '1' then
              if not held or string.sub(held, 17) ~= ARGV[7] then return 0 end
            elseif held then
              return 0
            end
            redis.call('set', KEYS[1], ARGV[3] .. ARGV[5], 'PX', ARGV[4])
            redis.call('zadd', KEYS[2], 0, ARGV[1])
            redis.call('publish', ARGV[2], ARGV[1])
            return 1
            """),
    /** Renews a value of a lease: lease, time to live. */
    RENEW("""
            if redis.call('getrange', KEYS[1], 0, 15) ~= ARGV[2] then return 0 end
            return redis.call('pexpire', KEYS[1], ARGV[3])
            """),
    /** Removes a value of a lease: channel, lease. */
    REVOKE("""
            if redis.call('getrange', KEYS[1], 0, 15) ~= ARGV[3] then return 0 end
            redis.call('del', KEYS[1])
            redis.call('zrem', KEYS[2], ARGV[1])
            redis.call('publish', ARGV[2], ARGV[1])
            return 1
            """),
    /** Removes a key without value from the index. */
    FORGET("""
            if redis.call('exists', KEYS[1]) == 1 then return 0 end
            return redis.call('zrem', KEYS[2], ARGV[1])
            """);

    private final String text;

    Scripts(String text) {
        this.text = text;
    }

    /** Whether the script took effect. */
    Mono<Boolean> run(RedisReactiveCommands<byte[], byte[]> redis, List<byte[]> keys, byte[]... arguments) {
        return redis.<Long>eval(text, ScriptOutputType.INTEGER, keys.toArray(byte[][]::new), arguments)
                .next()
                .map(result -> result == 1);
    }
}
