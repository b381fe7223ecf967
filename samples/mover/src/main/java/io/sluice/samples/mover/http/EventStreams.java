package io.sluice.samples.mover.http;

import io.sluice.samples.mover.MoverClient;
import io.sluice.samples.mover.problem.Problems;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.eventbus.MessageConsumer;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.RoutingContext;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
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

    /** Events of all moves and of the engine. */
    void openForAll(RoutingContext context) {
        open(context, null, () -> mover.moves().map(all -> all.getJsonArray("moves")));
    }

    /** Events of one move. */
    void openForMove(RoutingContext context) {
        String id = String.valueOf(context.pathParam("id"));
        open(context, id, () -> mover.move(id).map(move -> new JsonArray().add(move)));
    }

    /** Collects events before it asks for the moves as they are. */
    private void open(RoutingContext context, @Nullable String move, Supplier<Future<JsonArray>> known) {
        if (streams.size() >= most) {
            ProblemResponse.send(context, Problems.TOO_MANY_STREAMS.with(most));
            return;
        }
        EventStream stream = new EventStream(context.response(), move);
        streams.add(stream);
        stream.onEnd(() -> streams.remove(stream));
        known.get().onSuccess(stream::begin).onFailure(error -> {
            streams.remove(stream);
            ProblemResponse.send(context, Problems.of(error));
        });
    }

    void close() {
        if (events != null) {
            events.unregister();
        }
        List.copyOf(streams).forEach(EventStream::end);
    }
}
