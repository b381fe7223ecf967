package io.sluice.reactor;

import io.sluice.engine.CompletionEvent;
import io.sluice.engine.StartEvent;
import io.sluice.engine.TransferOptions;
import java.util.Objects;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Sinks;

/**
 * Ties transfers to what happens outside of the engine: a transfer that starts after a publisher, or whose end goes into a
 * sink.
 *
 * <p>{@code computed.then(connection.write(…))} submits the write when {@code computed} completes. With a start event the
 * write is submitted at once, and waits: so its deadline runs, and a notification or strong signal that is submitted after
 * it waits for it, too.
 */
public final class ReactiveEvents {
    private ReactiveEvents() {}

    /**
     * The first item or the completion of a publisher, for {@link TransferOptions#startAfter(StartEvent)}. If the publisher
     * fails first, the transfer fails with {@link io.sluice.engine.StartEventException}.
     *
     * <p>The publisher is subscribed to once for each transfer, on the thread that submits it, and cancelled after its
     * first item. A transfer that ends before, by a cancel or its deadline, leaves it subscribed: a publisher that may
     * never come to an end wants a bound of its own, such as {@code timeout} or {@code takeUntilOther}.
     *
     * @param publisher tells when the transfer may start
     * @return the event
     */
    public static StartEvent startEvent(Publisher<?> publisher) {
        Flux<?> source = Flux.from(Objects.requireNonNull(publisher, "publisher"));
        return listener -> source.subscribe(new StartEventSubscriber(listener));
    }

    /**
     * Completes a sink, or fails it with the transfer's error, for {@link TransferOptions#completeInto(CompletionEvent)}.
     * The sink is for one transfer: the first end counts.
     *
     * <p>The sink's subscribers are called on the poller's thread, before the transfer's own.
     *
     * @param sink what the end of the transfer goes into, such as {@code Sinks.empty()} or {@code Sinks.one()}
     * @return the event
     */
    public static CompletionEvent completionEvent(Sinks.Empty<?> sink) {
        Objects.requireNonNull(sink, "sink");
        return error -> {
            // A sink that has ended already stays as it is: the transfer's own signal tells the same.
            Sinks.EmitResult ignored = error == null ? sink.tryEmitEmpty() : sink.tryEmitError(error);
        };
    }
}
