package io.sluice.directory.redis;

import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.reactive.RedisReactiveCommands;
import io.lettuce.core.codec.ByteArrayCodec;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/**
 * The connection for commands. A connection that has ended or fallen silent is closed and dropped, and the next command
 * makes another: the client's own reconnect pauses for half a minute after a long outage, and does not notice missing
 * answers.
 */
final class CommandConnection {
    private final RedisClient client;
    private final RedisURI address;
    private final Duration silence;
    private final Object lock = new Object();
    private @Nullable CompletableFuture<StatefulRedisConnection<byte[], byte[]>> current;
    private boolean isClosed;

    /** Creates the connection; an answer or a connect may take as long as the silence. */
    CommandConnection(RedisClient client, RedisURI address, Duration silence) {
        this.client = client;
        this.address = address;
        this.silence = silence;
    }

    Mono<RedisReactiveCommands<byte[], byte[]>> commands() {
        return Mono.fromFuture(this::connection, true).map(StatefulRedisConnection::reactive);
    }

    private CompletableFuture<StatefulRedisConnection<byte[], byte[]>> connection() {
        synchronized (lock) {
            if (isClosed) {
                return CompletableFuture.failedFuture(new IllegalStateException("the connection to Redis is closed"));
            }
            CompletableFuture<StatefulRedisConnection<byte[], byte[]>> found = current;
            if (found == null || found.isCompletedExceptionally()) {
                found = connect();
                current = found;
            }
            return found;
        }
    }

    private CompletableFuture<StatefulRedisConnection<byte[], byte[]>> connect() {
        CompletableFuture<StatefulRedisConnection<byte[], byte[]>> attempt =
                client.connectAsync(ByteArrayCodec.INSTANCE, address).toCompletableFuture();
        // a client of the application may have longer time-outs than this directory
        CompletableFuture<StatefulRedisConnection<byte[], byte[]>> inTime =
                attempt.copy().orTimeout(silence.toNanos(), TimeUnit.NANOSECONDS);
        inTime.whenComplete((connection, error) -> {
            if (error == null) {
                watch(connection, inTime);
            } else {
                attempt.thenAccept(StatefulRedisConnection::closeAsync);
            }
        });
        return inTime;
    }

    private void watch(
            StatefulRedisConnection<byte[], byte[]> connection,
            CompletableFuture<StatefulRedisConnection<byte[], byte[]>> made) {
        Disposable pulse = Pulse.of(connection.reactive().ping(), silence, dead -> replace(connection, made));
        connection.addListener(new RedisConnectionStateListener() {
            @Override
            public void onRedisDisconnected(RedisChannelHandler<?, ?> handler) {
                pulse.dispose();
                replace(connection, made);
            }
        });
    }

    private void replace(
            StatefulRedisConnection<byte[], byte[]> connection,
            CompletableFuture<StatefulRedisConnection<byte[], byte[]>> made) {
        synchronized (lock) {
            if (!made.equals(current)) {
                // it is being closed already
                return;
            }
            current = null;
        }
        // this fails the commands that wait for an answer
        connection.closeAsync();
    }

    /** Makes no further connections. */
    @Nullable
    CompletableFuture<StatefulRedisConnection<byte[], byte[]>> end() {
        synchronized (lock) {
            CompletableFuture<StatefulRedisConnection<byte[], byte[]>> last = current;
            isClosed = true;
            current = null;
            return last;
        }
    }

    /** Closes the connection, or lets one that is being made close itself. */
    Mono<Void> close() {
        return Mono.defer(() -> {
            CompletableFuture<StatefulRedisConnection<byte[], byte[]>> last = end();
            if (last == null) {
                return Mono.empty();
            }
            CompletableFuture<Void> closed = last.thenCompose(StatefulRedisConnection::closeAsync);
            return last.isDone() && !last.isCompletedExceptionally() ? Mono.fromFuture(closed) : Mono.empty();
        });
    }
}
