package io.sluice.vertx;

import io.vertx.core.Future;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A call of the engine, whose end completes a future of its caller's context. */
final class EngineCall<T> extends StageDelivery<T> {
    private final ContextMailbox mailbox;

    private EngineCall(ContextMailbox mailbox) {
        this.mailbox = mailbox;
    }

    /**
     * Makes a call.
     *
     * @param call gets what it ends, on any thread; if it throws, that is the end
     */
    static <T> Future<T> start(ClientContext client, Consumer<EngineCall<T>> call) {
        EngineCall<T> started = new EngineCall<>(client.mailbox());
        Future<T> result = started.mailbox.future(started.end());
        try {
            call.accept(started);
        } catch (RuntimeException refused) {
            started.finish(null, refused);
        }
        return result;
    }

    /** Called once. */
    void finish(@Nullable T value, @Nullable Throwable error) {
        ended(value, error);
        mailbox.deliver(this);
    }
}
