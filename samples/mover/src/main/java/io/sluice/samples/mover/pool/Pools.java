package io.sluice.samples.mover.pool;

import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.samples.mover.problem.Problems;
import io.sluice.vertx.TransferClient;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.WorkerExecutor;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

/** The pools of a mover. Confined to its context. */
public final class Pools {
    /** More pools than a mover has models to serve. */
    public static final int MOST = 64;

    private static final int WORKERS = 2;
    /** Vert.x warns of work that takes longer. */
    private static final long LONGEST_MINUTES = 5;

    private final WorkerExecutor computing;
    private final WorkerExecutor checking;
    private final TransferClient client;
    private final long memoryBytes;
    private final Map<String, BlockPool> pools = new TreeMap<>();
    private final Set<String> coming = new HashSet<>();

    private long usedBytes;
    private long generations;

    /**
     * None yet. On the context of a verticle, with which the workers end.
     *
     * @param vertx for the workers that compute and check blocks: others than those of Vert.x, which would keep requests
     *     waiting meanwhile
     * @param memoryBytes the most that all pools may take
     */
    public Pools(Vertx vertx, TransferClient client, long memoryBytes) {
        this.computing = vertx.createSharedWorkerExecutor("mover-compute", WORKERS, LONGEST_MINUTES, TimeUnit.MINUTES);
        this.checking = vertx.createSharedWorkerExecutor("mover-check", WORKERS);
        this.client = client;
        this.memoryBytes = memoryBytes;
    }

    public Collection<BlockPool> all() {
        return List.copyOf(pools.values());
    }

    /**
     * The pool of a name.
     *
     * @throws io.sluice.samples.mover.problem.Problem.ProblemException if there is none
     */
    public BlockPool named(String name) {
        BlockPool pool = pools.get(name);
        if (pool == null) {
            throw Problems.UNKNOWN_POOL.exception(name);
        }
        return pool;
    }

    /** Whether this very pool is still open. */
    public boolean isOpen(BlockPool pool) {
        BlockPool known = pools.get(pool.name());
        return known != null && known.generation() == pool.generation();
    }

    /** Allocates memory, and registers it with all transports. */
    public Future<BlockPool> register(String name, PoolLayout layout) {
        long bytes = layout.memoryBytes();
        if (pools.containsKey(name) || coming.contains(name)) {
            return Problems.POOL_EXISTS.failed(name);
        }
        if (pools.size() + coming.size() >= MOST) {
            return Problems.TOO_MANY.failed("pools", MOST, "Close one with DELETE /api/pools/{pool}.");
        }
        if (bytes > memoryBytes - usedBytes) {
            return Problems.MEMORY_LIMIT.failed(bytes, memoryBytes - usedBytes);
        }
        usedBytes += bytes;
        coming.add(name);
        return allocate(BlockPool.pagesRegion(name), layout.pagesBytes())
                .compose(pages -> allocate(BlockPool.sealsRegion(name), layout.sealsBytes())
                        .map(seals -> new BlockPool(name, ++generations, layout, pages, seals))
                        .recover(error -> client.close(pages).transform(closed -> Future.failedFuture(error))))
                .onComplete(done -> {
                    coming.remove(name);
                    if (done.succeeded()) {
                        pools.put(name, done.result());
                    } else {
                        usedBytes -= bytes;
                    }
                });
    }

    private Future<MemoryRegion> allocate(String region, long bytes) {
        return client.allocate(bytes, RegionOptions.readWrite().named(region));
    }

    /** Takes a pool away, once none of its blocks is moved. Peers that still read it are refused from then on. */
    public Future<Void> close(String name) {
        BlockPool pool;
        try {
            pool = named(name);
        } catch (RuntimeException unknown) {
            return Future.failedFuture(unknown);
        }
        if (pool.isInUse()) {
            return Problems.POOL_IN_USE.failed(name);
        }
        pools.remove(name);
        return Future.join(client.close(pool.pages()), client.close(pool.seals()))
                .onComplete(closed -> usedBytes -= pool.layout().memoryBytes())
                .mapEmpty();
    }

    /**
     * Computes blocks that are not there yet.
     *
     * @return how many were computed; or the problem that there was no room for all
     */
    public Future<Integer> compute(BlockPool pool, List<Long> hashes) {
        List<BlockPool.ReservedBlock> reserved = new ArrayList<>();
        for (long hash : hashes) {
            if (!pool.has(hash)) {
                int slot = pool.reserve();
                if (slot == BlockPool.NONE) {
                    reserved.forEach(block -> pool.giveBack(block.slot()));
                    return Problems.POOL_FULL.failed(pool.name());
                }
                reserved.add(new BlockPool.ReservedBlock(hash, slot));
            }
        }
        return computing
                .executeBlocking(
                        () -> {
                            reserved.forEach(block -> BlockContent.fill(pool, block.hash(), block.slot()));
                            return reserved.size();
                        },
                        false)
                .map(Objects::requireNonNull)
                .onComplete(done -> reserved.forEach(block -> {
                    if (done.succeeded()) {
                        pool.admit(block.hash(), block.slot());
                    } else {
                        pool.giveBack(block.slot());
                    }
                }));
    }

    /**
     * Checks blocks that have arrived, page by page, and takes in those that are whole; the slots of the others are free again.
     *
     * @return what was wrong
     */
    public Future<BlockContent.PageCheck> admit(BlockPool pool, List<BlockPool.ReservedBlock> arrived) {
        return checking.executeBlocking(() -> BlockContent.PageCheck.of(pool, arrived), false)
                .map(Objects::requireNonNull)
                .onComplete(done -> {
                    BlockContent.PageCheck check = done.succeeded() ? done.result() : null;
                    for (BlockPool.ReservedBlock block : arrived) {
                        if (check != null && check.isWhole(block.hash())) {
                            pool.admit(block.hash(), block.slot());
                        } else {
                            pool.giveBack(block.slot());
                        }
                    }
                    if (check != null) {
                        pool.foundCorrupted(check.corruptedPages());
                    }
                });
    }
}
