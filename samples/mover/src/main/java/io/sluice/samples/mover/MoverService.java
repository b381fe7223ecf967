package io.sluice.samples.mover;

import io.sluice.engine.HostAndPort;
import io.sluice.engine.TransferEngine;
import io.sluice.samples.mover.move.Moves;
import io.sluice.samples.mover.peer.MoverRole;
import io.sluice.samples.mover.peer.PeerLinks;
import io.sluice.samples.mover.peer.Peers;
import io.sluice.samples.mover.pool.BlockHash;
import io.sluice.samples.mover.pool.BlockPool;
import io.sluice.samples.mover.pool.PoolLayout;
import io.sluice.samples.mover.pool.Pools;
import io.sluice.samples.mover.problem.Problem;
import io.sluice.samples.mover.problem.Problems;
import io.sluice.vertx.TransferClient;
import io.vertx.core.Future;
import io.vertx.core.eventbus.Message;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.SplittableRandom;
import java.util.regex.Pattern;

/** Carries out what is asked over the event bus. Confined to the mover's context. */
record MoverService(
        MoverOptions options,
        TransferClient client,
        Pools pools,
        Peers peers,
        PeerLinks links,
        Moves moves,
        MoverPresence presence) {
    private static final int LISTED = 100;
    private static final int MOST_LISTED = 512;
    private static final Pattern POOL_NAME = Pattern.compile("[A-Za-z0-9._-]{1,64}");

    void handle(Message<JsonObject> message) {
        Future<JsonObject> answer;
        try {
            MoverClient.Operation operation = MoverClient.Operation.valueOf(
                    String.valueOf(message.headers().get(MoverClient.OPERATION)));
            answer = execute(operation, message.body());
        } catch (RuntimeException wrong) {
            answer = Future.failedFuture(wrong);
        }
        answer.onComplete(done -> {
            if (done.succeeded()) {
                message.reply(done.result());
            } else {
                Problem problem = Problems.of(done.cause());
                message.fail(problem.status(), problem.toJson().encode());
            }
        });
    }

    private Future<JsonObject> execute(MoverClient.Operation operation, JsonObject body) {
        return switch (operation) {
            case HEALTH -> health();
            case DESCRIBE -> Future.succeededFuture(describe());
            case PEERS -> Future.succeededFuture(peers.toJson());
            case POOLS -> Future.succeededFuture(listPools());
            case REGISTER_POOL -> registerPool(body);
            case CLOSE_POOL -> closePool(body.getString("pool"));
            case COMPUTE -> compute(body);
            case BLOCKS -> blocks(body);
            case MOVES -> Future.succeededFuture(moves.list());
            case MOVE -> Future.succeededFuture(moves.get(body.getString("id")));
            case SUBMIT -> Future.succeededFuture(moves.submit(body));
            case CANCEL -> Future.succeededFuture(moves.cancel(body.getString("id")));
            case LEAVE -> presence.withdraw().map(left -> new JsonObject());
        };
    }

    private Future<JsonObject> health() {
        return client.health().map(engine -> {
            boolean live = "UP".equals(engine.getString("status"));
            String detail = live ? presence.trouble() : engine.getString("detail", "");
            return new JsonObject()
                    .put("live", live)
                    .put("ready", live && presence.trouble().isEmpty())
                    .put("directoryInterrupted", peers.isInterrupted())
                    .put("detail", detail.isEmpty() ? "up" : detail);
        });
    }

    private JsonObject describe() {
        TransferEngine engine = client.engine();
        return new JsonObject()
                .put("name", options.directoryName())
                .put("role", options.role().text())
                .put(
                        "address",
                        HostAndPort.text(
                                client.address().host(), client.address().port()))
                .put("engine", engine.id().toString())
                .put("epoch", Long.toHexString(engine.epoch()));
    }

    private JsonObject listPools() {
        JsonArray all = new JsonArray();
        pools.all().forEach(pool -> all.add(pool.toJson()));
        return new JsonObject().put("pools", all);
    }

    private Future<JsonObject> registerPool(JsonObject body) {
        String name = body.getString("name", "");
        if (!POOL_NAME.matcher(name).matches()) {
            throw new IllegalArgumentException("a pool's name is 1 to 64 letters, digits, '.', '_' and '-'");
        }
        return pools.register(name, PoolLayout.asked(body))
                .compose(pool -> presence.publish().map(told -> pool.toJson()));
    }

    private Future<JsonObject> closePool(String name) {
        // First out of the directory's next entry, so that no peer begins what would fail.
        return pools.close(name).compose(closed -> presence.publish()).map(told -> new JsonObject().put("pool", name));
    }

    private Future<JsonObject> compute(JsonObject body) {
        if (options.role() != MoverRole.PREFILL) {
            throw Problems.COMPUTES_NOTHING.exception();
        }
        BlockPool pool = pools.named(body.getString("pool"));
        JsonArray named = body.getJsonArray("blocks");
        int count = body.getInteger("count", 0);
        if ((named == null || named.isEmpty()) == count < 1) {
            throw new IllegalArgumentException("give either 'blocks', a list of hashes, or 'count', at least 1");
        }
        List<Long> hashes = named == null || named.isEmpty()
                ? new SplittableRandom(body.getLong("seed", 0L))
                        .longs(Math.min(count, MoverClient.MOST_COMPUTED + 1))
                        .boxed()
                        .toList()
                : BlockHash.parse(named);
        int most = Math.min(MoverClient.MOST_COMPUTED, pool.layout().blocks());
        if (hashes.size() > most) {
            throw new IllegalArgumentException(
                    "at most " + most + " blocks at a time, as many as the pool has room for");
        }
        return pools.compute(pool, hashes)
                .map(computed -> new JsonObject()
                        .put("pool", pool.name())
                        .put("computed", computed)
                        .put("blocks", BlockHash.texts(hashes)));
    }

    private Future<JsonObject> blocks(JsonObject body) {
        BlockPool pool = pools.named(body.getString("pool"));
        int skip = Math.max(0, body.getInteger("skip", 0));
        int limit = Math.clamp(body.getInteger("limit", LISTED), 1, MOST_LISTED);
        String peer = body.getString("peer");
        if (peer == null || peer.equals(options.directoryName())) {
            return Future.succeededFuture(pool.listing(skip, limit));
        }
        return links.to(peer).compose(link -> link.blocks(pool.name(), skip, limit));
    }
}
