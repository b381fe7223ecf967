package io.sluice.samples.mover;

import io.sluice.samples.mover.problem.Problems;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.Vertx;
import io.vertx.core.eventbus.DeliveryOptions;
import io.vertx.core.eventbus.EventBus;
import io.vertx.core.eventbus.Message;
import io.vertx.core.eventbus.MessageConsumer;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.util.function.BiConsumer;

/**
 * A mover, as code on the same event bus uses it. Requests and answers are those of the HTTP API; what fails, fails
 * with a {@link io.sluice.samples.mover.problem.Problem.ProblemException}. Any thread.
 *
 * @param mover its name in the directory
 * @param isLocal whether only one on this very Vert.x is meant
 */
public record MoverClient(EventBus bus, String mover, boolean isLocal) {
    /** The most blocks that are computed at a time. */
    public static final int MOST_COMPUTED = 4096;

    static final String OPERATION = "operation";
    static final String EVENT = "event";

    private static final String ADDRESS = "sluice.mover.";

    /** How long memory may take to be registered, and blocks to be computed: both touch every byte. */
    public static final Duration LONG_PATIENCE = Duration.ofMinutes(5);

    /** A question to a peer takes 15 s at most. */
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    /** A directory that does not answer is not waited for longer than 3 s. */
    private static final Duration LEAVING = Duration.ofSeconds(5);

    /**
     * A mover by its name.
     *
     * @param directoryName role and name, such as {@code decode/a}
     */
    public static MoverClient of(Vertx vertx, String directoryName) {
        return new MoverClient(vertx.eventBus(), directoryName, false);
    }

    /**
     * A mover of this very Vert.x, and never one that has the same name elsewhere in a cluster.
     *
     * @param directoryName role and name, such as {@code decode/a}
     */
    public static MoverClient local(Vertx vertx, String directoryName) {
        return new MoverClient(vertx.eventBus(), directoryName, true);
    }

    static String address(String directoryName) {
        return ADDRESS + directoryName;
    }

    static String events(String directoryName) {
        return ADDRESS + directoryName + ".events";
    }

    /**
     * Subscribes to events: {@code engine} and {@code move}, with their data.
     *
     * @return to be unregistered
     */
    public MessageConsumer<JsonObject> onEvent(BiConsumer<String, JsonObject> handler) {
        Handler<Message<JsonObject>> told =
                message -> handler.accept(message.headers().get(EVENT), message.body());
        return isLocal ? bus.localConsumer(events(mover), told) : bus.consumer(events(mover), told);
    }

    public Future<JsonObject> ask(Operation operation) {
        return ask(operation, new JsonObject());
    }

    /**
     * Has an operation carried out.
     *
     * @param body what it takes, as in the HTTP API: parameters of the path and the query, and the members of the body
     * @return its answer, as in the HTTP API
     */
    public Future<JsonObject> ask(Operation operation, JsonObject body) {
        DeliveryOptions options = new DeliveryOptions()
                .setLocalOnly(isLocal)
                .setSendTimeout(operation.patience.toMillis())
                .addHeader(OPERATION, operation.name());
        return bus.<JsonObject>request(address(mover), body, options)
                .transform(reply -> reply.succeeded()
                        ? Future.succeededFuture(reply.result().body())
                        : Future.failedFuture(Problems.of(reply.cause()).asException()));
    }

    /** The operations of a mover over the event bus; the bodies are those of the HTTP API. */
    public enum Operation {
        /** Whether it is {@code live}, and {@code ready}, and why not. */
        HEALTH,
        DESCRIBE,
        /** {@code peers}: the other movers in the directory. */
        PEERS,
        POOLS,
        /** Registers a pool: {@code name}, {@code model} or {@code pageBytes}, {@code blocks}. */
        REGISTER_POOL(LONG_PATIENCE),
        CLOSE_POOL,
        /**
         * Computes blocks of a {@code pool}, on prefill movers: {@code blocks}, or {@code count} and {@code seed}; the same seed always
         * gives the same blocks. The answer has {@code computed} and {@code blocks}.
         */
        COMPUTE(LONG_PATIENCE),
        /** Hashes of the blocks of a {@code pool}: {@code skip}, {@code limit}, and a {@code peer} if not the mover's own. */
        BLOCKS,
        /** {@code moves}, the oldest first. */
        MOVES,
        MOVE,
        /** Begins a move: {@code from} or {@code to}, {@code pool}, {@code blocks} or {@code count}, {@code bytesPerSecond}. */
        SUBMIT,
        /** Asks for the end of a move: {@code id}. */
        CANCEL,
        /**
         * Lets the mover leave the directory for good, so that no peer is sent to it any more. Running moves go on. Call it before it
         * is undeployed, which ends its engine first. The answer comes when it is out, or the directory has not answered for some
         * seconds.
         */
        LEAVE(LEAVING);

        private final Duration patience;

        Operation() {
            this(PATIENCE);
        }

        Operation(Duration patience) {
            this.patience = patience;
        }
    }
}
