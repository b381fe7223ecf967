package io.sluice.samples.control;

import io.sluice.reactor.ReactiveConnection;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Messages over a connection's notifications. */
public final class ControlLink {
    private final ReactiveConnection connection;
    private final AtomicInteger nextNumber = new AtomicInteger();

    /** Over a connection, whose notifications are for this alone. */
    public ControlLink(ReactiveConnection connection) {
        this.connection = connection;
    }

    /**
     * Sends a message.
     *
     * @return completes when the other side's engine holds it; all writes submitted before are visible there by then
     */
    public Mono<Void> send(ControlMessage message) {
        return Mono.defer(() -> {
            List<byte[]> fragments = MessageFragments.split(
                    ControlCodec.encode(message),
                    nextNumber.getAndIncrement(),
                    connection.connection().maxNotificationBytes());
            return fragments.size() == 1
                    ? connection.notify(fragments.getFirst())
                    : Flux.fromIterable(fragments).concatMap(connection::notify).then();
        });
    }

    /**
     * The other side's messages.
     *
     * @return completes when either side closes the connection; fails if the connection is lost, or with
     *     {@link MalformedMessageException}
     */
    public Flux<ControlMessage> received() {
        return Flux.defer(() -> {
            MessageFragments.MessageAssembler assembler = new MessageFragments.MessageAssembler();
            return connection.notifications().handle((notification, sink) -> {
                byte @Nullable [] message = assembler.accept(notification);
                if (message != null) {
                    sink.next(ControlCodec.decode(message));
                }
            });
        });
    }
}
