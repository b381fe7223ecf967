package io.sluice.samples.mover.http;

import io.sluice.samples.mover.MoverClient;
import io.sluice.samples.mover.problem.Problems;
import io.vertx.core.Vertx;
import io.vertx.core.eventbus.MessageConsumer;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.RoutingContext;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The clients that listen for events, as many as there may be. Confined to the verticle's context. */
final class EventStreams {

    private static final long CHECK_MILLIS = 1000;

    private final Vertx vertx;
    private final MoverClient mover;
    private final int most;
    private final Set<EventStream> streams = new LinkedHashSet<>();
    private @Nullable MessageConsumer<JsonObject> events;

    EventStreams(Vertx vertx, MoverClient mover, int most) {
        this.vertx = vertx;
        this.mover = mover;
        this.most = most;
    }

    /** Begins to listen to the mover, until the verticle ends. */
    void begin() {
        events = mover.onEvent((event, data) -> List.copyOf(streams).forEach(stream -> stream.offer(event, data)));
        vertx.setPeriodic(CHECK_MILLIS, tick -> List.copyOf(streams).forEach(EventStream::check));
    }

    /** All that happens. */
    void openForAll(RoutingContext context) {
        if (hasRoom(context)) {
            EventStream stream = added(new EventStream(context.response(), null));
            mover.moves().onComplete(done -> {
                if (done.succeeded()) {
                    stream.begin(done.result().getJsonArray("moves"));
                } else {
                    refused(context, stream, done.cause());
                }
            });
        }
    }

    /** What happens to one move. */
    void openForMove(RoutingContext context) {
        if (hasRoom(context)) {
            String id = String.valueOf(context.pathParam("id"));
            EventStream stream = added(new EventStream(context.response(), id));
            mover.move(id).onComplete(done -> {
                if (done.succeeded()) {
                    stream.begin(new JsonArray().add(done.result()));
                } else {
                    refused(context, stream, done.cause());
                }
            });
        }
    }

    private boolean hasRoom(RoutingContext context) {
        if (streams.size() < most) {
            return true;
        }
        ProblemResponse.send(context, Problems.TOO_MANY_STREAMS.with(most));
        return false;
    }

    private EventStream added(EventStream stream) {
        streams.add(stream);
        stream.onEnd(() -> streams.remove(stream));
        return stream;
    }

    private void refused(RoutingContext context, EventStream stream, Throwable error) {
        streams.remove(stream);
        ProblemResponse.send(context, Problems.of(error));
    }

    /** Ends them all. */
    void close() {
        if (events != null) {
            events.unregister();
        }
        List.copyOf(streams).forEach(EventStream::end);
    }
}
