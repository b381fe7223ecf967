package io.sluice.samples.mover;

import io.sluice.samples.mover.problem.Problems;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.Vertx;
import io.vertx.core.eventbus.DeliveryOptions;
import io.vertx.core.eventbus.EventBus;
import io.vertx.core.eventbus.Message;
import io.vertx.core.eventbus.MessageConsumer;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.util.function.BiConsumer;

/**
 * A mover, as anybody on the same event bus can use it. Requests and answers are those of the HTTP API; what fails, fails
 * with a {@link io.sluice.samples.mover.problem.ProblemException}. Any thread.
 */
public final class MoverClient {

    /** The most blocks that are computed at a time. */
    public static final int MOST_COMPUTED = 4096;

    static final String OPERATION = "operation";
    static final String EVENT = "event";

    private static final String ADDRESS = "sluice.mover.";
    private static final String EVENTS = ".events";

    /** How long memory may take to be registered, and blocks to be computed: both touch every byte. */
    public static final Duration LONG_PATIENCE = Duration.ofMinutes(5);

    /** A question to a peer takes 15 s at most. */
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    /** A directory that does not answer is not waited for longer than 3 s. */
    private static final Duration LEAVING = Duration.ofSeconds(5);

    private final EventBus bus;
    private final String mover;
    private final boolean isLocal;

    private MoverClient(EventBus bus, String mover, boolean isLocal) {
        this.bus = bus;
        this.mover = mover;
        this.isLocal = isLocal;
    }

    /**
     * A mover by its name.
     *
     * @param vertx whose event bus it is on
     * @param directoryName role and name, such as {@code decode/a}
     */
    public static MoverClient of(Vertx vertx, String directoryName) {
        return new MoverClient(vertx.eventBus(), directoryName, false);
    }

    /**
     * A mover of this very Vert.x, and never one that has the same name elsewhere in a cluster.
     *
     * @param vertx on which it is deployed
     * @param directoryName role and name, such as {@code decode/a}
     */
    public static MoverClient local(Vertx vertx, String directoryName) {
        return new MoverClient(vertx.eventBus(), directoryName, true);
    }

    /** Where a mover is asked. */
    static String address(String directoryName) {
        return ADDRESS + directoryName;
    }

    /** The address of a mover's events. */
    static String events(String directoryName) {
        return ADDRESS + directoryName + EVENTS;
    }

    /** The mover's name. */
    public String mover() {
        return mover;
    }

    /** {@code live}, {@code ready}, and why not. */
    public Future<JsonObject> health() {
        return ask(Operation.HEALTH, new JsonObject());
    }

    /** What the mover is. */
    public Future<JsonObject> describe() {
        return ask(Operation.DESCRIBE, new JsonObject());
    }

    /** {@code peers}: the other movers in the directory. */
    public Future<JsonObject> peers() {
        return ask(Operation.PEERS, new JsonObject());
    }

    /** {@code pools}. */
    public Future<JsonObject> pools() {
        return ask(Operation.POOLS, new JsonObject());
    }

    /** Registers a pool: {@code name}, {@code model} or {@code pageBytes}, {@code blocks}. */
    public Future<JsonObject> registerPool(JsonObject pool) {
        return ask(Operation.REGISTER_POOL, pool);
    }

    /** Closes a pool. */
    public Future<JsonObject> closePool(String pool) {
        return ask(Operation.CLOSE_POOL, new JsonObject().put("pool", pool));
    }

    /**
     * Computes blocks; for prefill movers.
     *
     * @param pool where
     * @param count how many; the same seed always gives the same blocks
     * @param seed which ones
     * @return {@code computed}, {@code blocks}
     */
    public Future<JsonObject> compute(String pool, int count, long seed) {
        return compute(new JsonObject().put("pool", pool).put("count", count).put("seed", seed));
    }

    /** Computes blocks, by hash: {@code pool}, {@code blocks}; or as {@link #compute(String, int, long)}. */
    public Future<JsonObject> compute(JsonObject blocks) {
        return ask(Operation.COMPUTE, blocks);
    }

    /** Hashes of blocks of the mover itself. */
    public Future<JsonObject> blocks(String pool, int skip, int limit) {
        return blocks(new JsonObject().put("pool", pool).put("skip", skip).put("limit", limit));
    }

    /** Hashes of blocks: {@code pool}, {@code skip}, {@code limit}, and a {@code peer} if not the mover's own. */
    public Future<JsonObject> blocks(JsonObject which) {
        return ask(Operation.BLOCKS, which);
    }

    /** {@code moves}, the oldest first. */
    public Future<JsonObject> moves() {
        return ask(Operation.MOVES, new JsonObject());
    }

    /** One move. */
    public Future<JsonObject> move(String id) {
        return ask(Operation.MOVE, new JsonObject().put("id", id));
    }

    /** Begins to move blocks of a peer here. */
    public Future<JsonObject> moveFrom(String peer, String pool, JsonArray blocks) {
        return submit(new JsonObject().put("from", peer).put("pool", pool).put("blocks", blocks));
    }

    /** Begins a move: {@code from} or {@code to}, {@code pool}, {@code blocks} or {@code count}, {@code bytesPerSecond}. */
    public Future<JsonObject> submit(JsonObject move) {
        return ask(Operation.SUBMIT, move);
    }

    /** Asks for the end of a move. */
    public Future<JsonObject> cancel(String id) {
        return ask(Operation.CANCEL, new JsonObject().put("id", id));
    }

    /**
     * Lets the mover leave the directory for good, so that no peer is sent to it any more. What runs goes on. To be done
     * before it is undeployed, which ends its engine first.
     *
     * @return completes when it is out, or the directory has not answered for some seconds
     */
    public Future<Void> leave() {
        return ask(Operation.LEAVE, new JsonObject()).mapEmpty();
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

    private Future<JsonObject> ask(Operation operation, JsonObject body) {
        Duration patience = switch (operation) {
            case REGISTER_POOL, COMPUTE -> LONG_PATIENCE;
            case LEAVE -> LEAVING;
            default -> PATIENCE;
        };
        DeliveryOptions options = new DeliveryOptions()
                .setLocalOnly(isLocal)
                .setSendTimeout(patience.toMillis())
                .addHeader(OPERATION, operation.name());
        return bus.<JsonObject>request(address(mover), body, options)
                .transform(reply -> reply.succeeded()
                        ? Future.succeededFuture(reply.result().body())
                        : Future.failedFuture(Problems.of(reply.cause()).asException()));
    }

    /** What a mover does when it is asked over the event bus; the bodies are those of the HTTP API. */
    enum Operation {
        /** Whether it lives, and whether it can be used. */
        HEALTH,
        /** What it is. */
        DESCRIBE,
        /** The others. */
        PEERS,
        /** Its pools. */
        POOLS,
        /** One more pool. */
        REGISTER_POOL,
        /** One pool less: {@code pool}. */
        CLOSE_POOL,
        /** Blocks to be computed: {@code pool}, and {@code blocks} or {@code count} and {@code seed}. */
        COMPUTE,
        /** The blocks of a pool, here or at a {@code peer}. */
        BLOCKS,
        /** All moves. */
        MOVES,
        /** One move: {@code id}. */
        MOVE,
        /** One more move. */
        SUBMIT,
        /** A move less: {@code id}. */
        CANCEL,
        /** Out of the directory, for good; what runs goes on. */
        LEAVE
    }
}
