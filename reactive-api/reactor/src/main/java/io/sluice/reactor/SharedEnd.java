package io.sluice.reactor;

import io.sluice.engine.Connection;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/**
 * The end of a connection, shared by all waiters. It depends on the connection's future only once, so a cancelled
 * waiter leaves nothing behind: a dependent of that future would stay as long as the connection.
 */
final class SharedEnd {
    private final Connection connection;
    private final Sinks.Empty<Void> end = Sinks.empty();
    private final AtomicBoolean asked = new AtomicBoolean();

    SharedEnd(Connection connection) {
        this.connection = connection;
    }

    /** Returns a Mono that completes or fails as the connection does. */
    Mono<Void> mono() {
        return Mono.defer(() -> {
            if (!asked.get() && asked.compareAndSet(false, true)) {
                connection.ended().whenComplete(this::ended);
            }
            return end.asMono();
        });
    }

    /** Returns the number of waiters. */
    int waiting() {
        return end.currentSubscriberCount();
    }

    private void ended(@Nullable Void nothing, @Nullable Throwable error) {
        if (error == null) {
            end.tryEmitEmpty();
        } else {
            Throwable cause = error instanceof CompletionException ? error.getCause() : null;
            end.tryEmitError(cause == null ? error : cause);
        }
    }
}
