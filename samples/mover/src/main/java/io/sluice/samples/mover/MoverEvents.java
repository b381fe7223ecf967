package io.sluice.samples.mover;

import io.sluice.engine.EngineMetrics;
import io.sluice.engine.EngineMetrics.Operation;
import io.sluice.engine.InFlightWindow;
import io.sluice.samples.mover.move.Moves;
import io.vertx.core.Vertx;
import io.vertx.core.eventbus.DeliveryOptions;
import io.vertx.core.json.JsonObject;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Supplier;

/**
 * Tells the event bus what happens: a move at once when its state changes, else at most ten times a second; the engine
 * twice a second. Confined to the mover's context.
 */
final class MoverEvents implements Moves.Listener {
    private static final long MOVES_MILLIS = 100;
    private static final long ENGINE_MILLIS = 500;

    private static final DeliveryOptions MOVE = new DeliveryOptions().addHeader(MoverClient.EVENT, "move");
    private static final DeliveryOptions ENGINE = new DeliveryOptions().addHeader(MoverClient.EVENT, "engine");

    private final Vertx vertx;
    private final String address;
    private final EngineMetrics metrics;
    private final Map<String, Supplier<JsonObject>> progressed = new LinkedHashMap<>();

    private long lastBytes;
    private long lastNanos = System.nanoTime();

    MoverEvents(Vertx vertx, String directoryName, EngineMetrics metrics) {
        this.vertx = vertx;
        this.address = MoverClient.events(directoryName);
        this.metrics = metrics;
    }

    /** From now on, until the verticle ends. */
    void begin() {
        vertx.setPeriodic(MOVES_MILLIS, tick -> tellMoves());
        vertx.setPeriodic(ENGINE_MILLIS, tick -> vertx.eventBus().publish(address, engine(), ENGINE));
    }

    @Override
    public void progressed(String id, Supplier<JsonObject> now) {
        progressed.put(id, now);
    }

    @Override
    public void changedState(String id, Supplier<JsonObject> now) {
        progressed.remove(id);
        vertx.eventBus().publish(address, now.get(), MOVE);
    }

    private void tellMoves() {
        progressed.values().forEach(now -> vertx.eventBus().publish(address, now.get(), MOVE));
        progressed.clear();
    }

    private JsonObject engine() {
        long bytes = metrics.bytes(Operation.READ) + metrics.bytes(Operation.WRITE);
        long nanos = System.nanoTime();
        double perSecond = (bytes - lastBytes) * 1e9 / Math.max(1, nanos - lastNanos);
        lastBytes = bytes;
        lastNanos = nanos;
        InFlightWindow window = metrics.window();
        return new JsonObject()
                .put("inFlight", window.operations())
                .put("inFlightLimit", window.operationLimit())
                .put("inFlightBytes", window.bytes())
                .put("inFlightBytesLimit", window.byteLimit())
                .put("bytesPerSecond", Math.round(perSecond));
    }
}
