package io.sluice.reactor;

import io.sluice.engine.CompletionEvent;
import io.sluice.engine.StartEvent;
import io.sluice.engine.TransferOptions;
import java.util.Objects;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Sinks;

/**
 * Connects transfers to events outside the engine: a transfer that starts after a publisher, or whose end completes a
 * sink.
 *
 * <p>{@code computed.then(connection.write(…))} submits the write when {@code computed} completes. With a start event
 * the write is submitted immediately and waits: its deadline runs, and notifications and strong signals submitted after
 * it wait for it.
 */
public final class ReactiveEvents {
    private ReactiveEvents() {}

    /**
     * Returns an event that happens at the first item or the completion of a publisher, for {@link
     * TransferOptions#startAfter(StartEvent)}. If the publisher fails first, the transfer fails with {@link
     * io.sluice.engine.StartEventException}.
     *
     * <p>The publisher is subscribed to once for each transfer, on the submitting thread, and cancelled after its first
     * item. A transfer that ends earlier, by a cancel or its deadline, leaves it subscribed: bound a publisher that may
     * never end, such as by {@code timeout} or {@code takeUntilOther}.
     *
     * @param publisher signals when the transfer may start
     * @return the event
     */
    public static StartEvent startEvent(Publisher<?> publisher) {
        Flux<?> source = Flux.from(Objects.requireNonNull(publisher, "publisher"));
        return listener -> source.subscribe(new StartEventSubscriber(listener));
    }

    /**
     * Returns an event that completes a sink, or fails it with the transfer's error, for {@link
     * TransferOptions#completeInto(CompletionEvent)}. Use a sink for one transfer only: the first end counts.
     *
     * <p>The sink's subscribers are called on the poller's thread, before the transfer's own.
     *
     * @param sink the sink that the end of the transfer completes, such as {@code Sinks.empty()} or {@code Sinks.one()}
     * @return the event
     */
    public static CompletionEvent completionEvent(Sinks.Empty<?> sink) {
        Objects.requireNonNull(sink, "sink");
        return error -> {
            // A sink that has already ended is not changed; the transfer's own signal reports the end.
            Sinks.EmitResult ignored = error == null ? sink.tryEmitEmpty() : sink.tryEmitError(error);
        };
    }
}
