package io.sluice.samples.mover.http;

import io.sluice.samples.mover.MoverClient;
import io.sluice.samples.mover.problem.Problems;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.eventbus.MessageConsumer;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.RoutingContext;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
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

    void begin() {
        events = mover.onEvent((event, data) -> List.copyOf(streams).forEach(stream -> stream.offer(event, data)));
        vertx.setPeriodic(CHECK_MILLIS, tick -> List.copyOf(streams).forEach(EventStream::check));
    }

    void openForAll(RoutingContext context) {
        open(context, null, () -> mover.ask(MoverClient.Operation.MOVES).map(all -> all.getJsonArray("moves")));
    }

    void openForMove(RoutingContext context) {
        String id = String.valueOf(context.pathParam("id"));
        open(
                context,
                id,
                () -> mover.ask(MoverClient.Operation.MOVE, new JsonObject().put("id", id))
                        .map(move -> new JsonArray().add(move)));
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

    /**
     * One client that listens. Its queue holds the newest state of each move and of the engine, and no more: a slow
     * client misses steps in between, and one that takes nothing for a while is disconnected. Confined to the verticle's context.
     */
    static final class EventStream {
        /** More moves than a mover keeps. */
        static final int MOST_WAITING = 1024;

        private static final int QUEUED_BYTES = 32 << 10;
        private static final long PATIENCE_NANOS = 15_000_000_000L;
        private static final long HEARTBEAT_NANOS = 10_000_000_000L;
        private static final Set<String> ENDS = Set.of("DONE", "FAILED", "CANCELLED");

        private final HttpServerResponse response;
        private final @Nullable String move;
        private final Map<String, JsonObject> moves = new LinkedHashMap<>();

        private @Nullable JsonObject engine;
        private @Nullable Runnable atEnd;
        private boolean begun;
        private boolean over;
        private boolean waitsForRoom;
        private long lastTaken = System.nanoTime();

        /**
         * Not begun yet: it only collects.
         *
         * @param move the one move of interest; {@code null} for all, and the engine
         */
        EventStream(HttpServerResponse response, @Nullable String move) {
            this.response = response;
            this.move = move;
        }

        /** Sets the handler for a client that has disconnected. */
        void onEnd(Runnable action) {
            atEnd = action;
            response.exceptionHandler(broken -> hasEnded());
            response.closeHandler(closed -> hasEnded());
            response.endHandler(ended -> hasEnded());
        }

        /** Begins with the moves as they were when this stream was made, or later. */
        void begin(JsonArray known) {
            if (over) {
                return;
            }
            Map<String, JsonObject> newer = new LinkedHashMap<>(moves);
            moves.clear();
            for (int i = 0; i < known.size(); i++) {
                JsonObject state = known.getJsonObject(i);
                moves.put(state.getString("id"), state);
            }
            moves.putAll(newer);
            begun = true;
            lastTaken = System.nanoTime();
            response.setChunked(true)
                    .setWriteQueueMaxSize(QUEUED_BYTES)
                    .putHeader("Content-Type", "text/event-stream")
                    .putHeader("Cache-Control", "no-store")
                    .putHeader("X-Accel-Buffering", "no");
            response.write("retry: 1000\n\n");
            flush();
        }

        void offer(String event, JsonObject data) {
            if (over) {
                return;
            }
            if ("engine".equals(event)) {
                engine = move == null ? data : null;
            } else {
                String id = data.getString("id");
                if (move == null || move.equals(id)) {
                    moves.put(id, data);
                }
            }
            if (moves.size() > MOST_WAITING) {
                disconnect();
            } else if (begun) {
                flush();
            }
        }

        private void flush() {
            for (Iterator<JsonObject> oldest = moves.values().iterator(); oldest.hasNext() && hasRoom(); ) {
                JsonObject state = oldest.next();
                oldest.remove();
                write("move", state);
                if (move != null && ENDS.contains(state.getString("state"))) {
                    end();
                    return;
                }
            }
            JsonObject figures = engine;
            if (figures != null && hasRoom()) {
                engine = null;
                write("engine", figures);
            }
        }

        private boolean hasRoom() {
            if (!response.writeQueueFull()) {
                return true;
            }
            if (!waitsForRoom) {
                waitsForRoom = true;
                response.drainHandler(drained -> {
                    waitsForRoom = false;
                    lastTaken = System.nanoTime();
                    if (!over) {
                        flush();
                    }
                });
            }
            return false;
        }

        private void write(String event, JsonObject data) {
            lastTaken = System.nanoTime();
            response.write("event: " + event + "\ndata: " + data.encode() + "\n\n");
        }

        /** Once a second: whether the client still takes something, and something for it to take if nothing happens. */
        void check() {
            long silence = System.nanoTime() - lastTaken;
            if (over || !begun) {
                return;
            }
            if (waitsForRoom) {
                if (silence > PATIENCE_NANOS) {
                    disconnect();
                }
            } else if (silence > HEARTBEAT_NANOS) {
                lastTaken = System.nanoTime();
                response.write(":\n\n");
            }
        }

        void end() {
            if (!over) {
                response.end();
                hasEnded();
            }
        }

        private void disconnect() {
            hasEnded();
            response.reset();
        }

        private void hasEnded() {
            if (!over) {
                over = true;
                moves.clear();
                engine = null;
                Runnable action = atEnd;
                if (action != null) {
                    action.run();
                }
            }
        }
    }
}
