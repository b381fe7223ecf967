package io.sluice.samples.mover.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Events for a slow client: socket buffers would hide back-pressure for long, so the response is a stand-in. */
class EventStreamTest {

    private final SlowResponse slow = new SlowResponse();
    private final EventStreams.EventStream stream = new EventStreams.EventStream(slow.response, null);

    private static JsonObject move(String id, String state, int done) {
        return new JsonObject().put("id", id).put("state", state).put("blocksDone", done);
    }

    private List<JsonObject> moves() {
        return ServerSentEvent.parse(slow.written.stream().flatMap(String::lines))
                .filter(event -> event.name().equals("move"))
                .map(ServerSentEvent::data)
                .toList();
    }

    @Test
    void whatHappensBeforeTheBeginIsNewerThanWhatWasKnown() {
        stream.offer("move", move("1", "DONE", 9));
        assertThat(slow.written).isEmpty();
        stream.begin(new JsonArray().add(move("0", "DONE", 1)).add(move("1", "RUNNING", 5)));
        assertThat(moves()).containsExactly(move("0", "DONE", 1), move("1", "DONE", 9));
    }

    @Test
    void aSlowClientGetsTheNewestStateOfEachMoveAndNotEachStep() {
        stream.begin(new JsonArray());
        slow.full = true;
        for (int i = 0; i < 1000; i++) {
            stream.offer("move", move("1", "RUNNING", i));
            stream.offer("move", move("2", "RUNNING", i));
            stream.offer("engine", new JsonObject().put("inFlight", i));
        }
        assertThat(moves()).isEmpty();
        slow.drain();
        assertThat(moves()).containsExactly(move("1", "RUNNING", 999), move("2", "RUNNING", 999));
        assertThat(slow.written.getLast()).contains("event: engine", "{\"inFlight\":999}");
    }

    @Test
    void aClientForWhomTooMuchWaitsIsDisconnected() {
        List<String> ended = new ArrayList<>();
        stream.onEnd(() -> ended.add("ended"));
        stream.begin(new JsonArray());
        slow.full = true;
        for (int i = 0; i <= EventStreams.EventStream.MOST_WAITING; i++) {
            stream.offer("move", move(Integer.toString(i), "RUNNING", 0));
        }
        assertThat(slow.reset).isTrue();
        assertThat(ended).containsExactly("ended");
        stream.offer("move", move("1", "DONE", 1));
        slow.drain();
        assertThat(moves()).isEmpty();
    }

    @Test
    void theStreamOfOneMoveHasNothingElseAndEndsWithIt() {
        EventStreams.EventStream one = new EventStreams.EventStream(slow.response, "1");
        one.begin(new JsonArray().add(move("1", "RUNNING", 0)));
        one.offer("engine", new JsonObject().put("inFlight", 1));
        one.offer("move", move("2", "RUNNING", 1));
        one.offer("move", move("1", "CANCELLED", 1));
        one.offer("move", move("1", "CANCELLED", 2));
        assertThat(moves()).containsExactly(move("1", "RUNNING", 0), move("1", "CANCELLED", 1));
        assertThat(slow.ended).isTrue();
    }

    /** A response whose client takes something only when it is told to. */
    private static final class SlowResponse {
        private final List<String> written = new ArrayList<>();
        private boolean full;
        private boolean reset;
        private boolean ended;
        private Handler<Void> drained = nothing -> {};

        private final HttpServerResponse response = (HttpServerResponse) Proxy.newProxyInstance(
                HttpServerResponse.class.getClassLoader(), new Class<?>[] {HttpServerResponse.class}, this::call);

        private void drain() {
            full = false;
            drained.handle(null);
        }

        @SuppressWarnings("unchecked")
        private Object call(Object self, Method method, Object[] arguments) {
            switch (method.getName()) {
                case "writeQueueFull" -> {
                    return full;
                }
                case "write" -> written.add((String) arguments[0]);
                case "drainHandler" -> drained = (Handler<Void>) arguments[0];
                case "reset" -> reset = true;
                case "end" -> ended = true;
                default -> {
                    // Nothing that matters here.
                }
            }
            return Stream.of(HttpServerResponse.class, Future.class)
                    .filter(method.getReturnType()::isAssignableFrom)
                    .findFirst()
                    .map(type -> type == Future.class ? Future.succeededFuture() : self)
                    .orElse(null);
        }
    }
}
