package io.sluice.vertx;

import io.sluice.engine.ConnectOptions;
import io.sluice.engine.Connection;
import io.sluice.engine.EngineAddress;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionMemory;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.Signal;
import io.sluice.engine.TransferElement;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.TransferTimeoutException;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonObject;
import io.vertx.core.streams.ReadStream;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A client in this process, with its own or a shared engine. */
final class DefaultTransferClient implements TransferClient, ClientContext {
    private static final int UNDEPLOYING_SECONDS = 5;
    private static final int LEAST_REGIONS_TO_LOOK_AT = 64;

    private final Vertx vertx;
    private final OpenEngine open;
    private final @Nullable String sharedName;
    private final @Nullable OpenWork<TransferHandle<?>> transfers;
    private final OpenWork<DemandStream<?>> streams = new OpenWork<>(DemandStream::clientClosed);

    /** The regions to close with this client; needed only if the engine may outlive it. */
    private final Set<MemoryRegion> regions = ConcurrentHashMap.newKeySet();

    // guarded by the regions
    private int regionsToLookAt = LEAST_REGIONS_TO_LOOK_AT;

    private final Set<Connection> connections = ConcurrentHashMap.newKeySet();
    /** Completes when nothing of this client accesses memory any more. */
    private final CompletableFuture<Void> ended = new CompletableFuture<>();

    /** Completes when its deployment is gone as well. */
    private final CompletableFuture<Void> closed = new CompletableFuture<>();

    private volatile @Nullable ContextMailbox latest;
    private volatile boolean closing;
    private volatile @Nullable ClientDeployment deployment;

    private DefaultTransferClient(Vertx vertx, OpenEngine open, @Nullable String sharedName) {
        this.vertx = vertx;
        this.open = open;
        this.sharedName = sharedName;
        this.transfers = sharedName == null ? null : new OpenWork<>(TransferHandle::cancel);
    }

    static TransferClient create(Vertx vertx, TransferClientOptions options) {
        TransferClientOptions copy = new TransferClientOptions(options);
        String name = copy.isShared() ? copy.getName() : null;
        OpenEngine engine = name == null ? OpenEngine.open(vertx, copy) : OpenEngine.hold(vertx, name, copy);
        DefaultTransferClient client = new DefaultTransferClient(vertx, engine, name);
        client.deployment = new ClientDeployment(vertx, client);
        return client;
    }

    /** One context often makes many calls in a row. */
    @Override
    public ContextMailbox mailbox() {
        Context context = vertx.getOrCreateContext();
        ContextMailbox last = latest;
        if (last == null || !last.context().equals(context)) {
            last = new ContextMailbox(context);
            latest = last;
        }
        return last;
    }

    @Override
    public OpenWork<DemandStream<?>> streams() {
        return streams;
    }

    @Override
    public StagingPool staging() {
        return open.staging();
    }

    @Override
    public boolean begin(TransferHandle<?> transfer) {
        return transfers == null || transfers.add(transfer);
    }

    @Override
    public void end(TransferHandle<?> transfer) {
        if (transfers != null) {
            transfers.remove(transfer);
        }
    }

    @Override
    public boolean closedTransfers() {
        return transfers != null && transfers.isClosed();
    }

    @Override
    public <T> Future<T> answer(Supplier<? extends CompletionStage<T>> question) {
        ContextMailbox mailbox = mailbox();
        try {
            return mailbox.whenEnded(question.get());
        } catch (RuntimeException refused) {
            return mailbox.failed(refused);
        }
    }

    @Override
    public TransferEngine engine() {
        return open.engine();
    }

    @Override
    public Future<MemoryRegion> allocate(long bytes, RegionOptions options) {
        Objects.requireNonNull(options, "options");
        return region(() -> engine().allocate(bytes, options));
    }

    @Override
    public Future<MemoryRegion> register(MemorySegment segment, RegionOptions options) {
        Objects.requireNonNull(segment, "segment");
        Objects.requireNonNull(options, "options");
        return region(() -> engine().register(segment, options));
    }

    @Override
    public Future<MemoryRegion> register(RegionMemory memory, RegionOptions options) {
        Objects.requireNonNull(memory, "memory");
        Objects.requireNonNull(options, "options");
        return region(() -> engine().register(memory, options));
    }

    private Future<MemoryRegion> region(Callable<MemoryRegion> making) {
        ContextMailbox mailbox = mailbox();
        try {
            return mailbox.context().executeBlocking(() -> kept(making), false).map(Objects::requireNonNull);
        } catch (RejectedExecutionException poolClosed) {
            return mailbox.failed(poolClosed);
        }
    }

    private MemoryRegion kept(Callable<MemoryRegion> making) throws Exception {
        if (closing) {
            throw OpenWork.clientClosed();
        }
        MemoryRegion region = making.call();
        regions.add(region);
        dropClosedRegions();
        if (closing) {
            // a concurrent close may have run before the region was added
            region.close();
            throw OpenWork.clientClosed();
        }
        return region;
    }

    /** Regions may be closed without this client: removes those whenever the number has doubled. */
    private void dropClosedRegions() {
        synchronized (regions) {
            if (regions.size() < regionsToLookAt) {
                return;
            }
            regions.removeIf(region -> !region.isOpen());
            regionsToLookAt = Math.max(LEAST_REGIONS_TO_LOOK_AT, 2 * regions.size());
        }
    }

    /** The number of regions that it would close. */
    int regionsKept() {
        return regions.size();
    }

    @Override
    public Future<Void> close(MemoryRegion region) {
        Objects.requireNonNull(region, "region");
        return answer(() -> {
            CompletableFuture<Void> closingRegion = region.close();
            regions.remove(region);
            return closingRegion;
        });
    }

    @Override
    public Future<TransferConnection> connect(EngineAddress address, ConnectOptions options) {
        Objects.requireNonNull(address, "address");
        Objects.requireNonNull(options, "options");
        return answer(() -> engine().connect(address, options).thenApply(this::own));
    }

    @Override
    public Future<TransferConnection> connection(EngineAddress address) {
        Objects.requireNonNull(address, "address");
        return answer(
                () -> engine().connection(address).thenApply(connection -> new EngineConnection(this, connection)));
    }

    private TransferConnection own(Connection connection) {
        connections.add(connection);
        connection.ended().whenComplete((nothing, error) -> connections.remove(connection));
        if (closing) {
            connection.close();
            throw OpenWork.clientClosed();
        }
        return new EngineConnection(this, connection);
    }

    @Override
    public ReadStream<TransferConnection> accepted() {
        return new AcceptedConnections(this);
    }

    @Override
    public TransferResultStream writeVectored(List<TransferElement> elements, TransferOptions options) {
        return spanning(elements, VectoredStream.Submission::write, options);
    }

    @Override
    public TransferResultStream readVectored(List<TransferElement> elements, TransferOptions options) {
        return spanning(elements, VectoredStream.Submission::read, options);
    }

    /**
     * Enough to fill the windows of all connections; if one connection gets all elements, its window must hold them.
     */
    private TransferResultStream spanning(
            List<TransferElement> elements, VectoredStream.Submission submission, TransferOptions options) {
        Objects.requireNonNull(options, "options");
        EngineOptions bounds = engine().options();
        long spanned = elements.stream()
                .map(element -> element.remote().connection())
                .distinct()
                .count();
        long windows = bounds.windowOperations() * Math.max(1, spanned);
        int most = Math.min(bounds.engineWindowOperations(), bounds.maxPending());
        return new VectoredStream(
                mailbox(),
                streams,
                (int) Math.min(windows, most),
                new VectoredStream.Listed(elements),
                (element, callback) -> submission.submit(element.remote().connection(), element, options, callback));
    }

    @Override
    public Future<Long> awaitAtLeast(Signal signal, long value, Duration atMost) {
        Objects.requireNonNull(signal, "signal");
        if (atMost.isNegative() || atMost.isZero()) {
            throw new IllegalArgumentException("atMost must be positive, not " + atMost);
        }
        return answer(() -> {
            CompletableFuture<Long> seen = signal.awaitAtLeast(value);
            return seen.copy()
                    .orTimeout(atMost.toMillis() + 1, TimeUnit.MILLISECONDS)
                    .exceptionallyCompose(error -> {
                        seen.cancel(false);
                        return CompletableFuture.failedFuture(
                                error instanceof TimeoutException
                                        ? new TransferTimeoutException(
                                                "the signal was not " + value + " within " + atMost)
                                        : error);
                    });
        });
    }

    @Override
    public Future<JsonObject> health() {
        return answer(() -> EngineHealthCheck.of(engine()));
    }

    @Override
    public Future<Void> close() {
        if (begin()) {
            end().whenComplete((nothing, error) -> undeploy(error));
        }
        return mailbox().whenEnded(closed);
    }

    /** As {@link #close()}, during the undeployment. */
    Future<Void> closeUndeployed() {
        if (begin()) {
            end().whenComplete((nothing, error) -> closed(error));
        }
        return mailbox().whenEnded(ended);
    }

    /**
     * Undeploys before the close completes: a following close of Vert.x must not find the deployment half undeployed.
     */
    private void undeploy(@Nullable Throwable error) {
        complete(ended, error);
        ClientDeployment watch = deployment;
        if (watch == null) {
            closed(error);
            return;
        }
        try {
            watch.end()
                    .toCompletionStage()
                    .toCompletableFuture()
                    .copy()
                    // a closing Vert.x may drop the request
                    .completeOnTimeout(null, UNDEPLOYING_SECONDS, TimeUnit.SECONDS)
                    .whenComplete((nothing, refused) -> closed(error));
        } catch (RejectedExecutionException vertxClosed) {
            closed(error);
        }
    }

    private void closed(@Nullable Throwable error) {
        complete(ended, error);
        complete(closed, error);
    }

    private static void complete(CompletableFuture<Void> stage, @Nullable Throwable error) {
        if (error == null) {
            stage.complete(null);
        } else {
            stage.completeExceptionally(error);
        }
    }

    private synchronized boolean begin() {
        if (closing) {
            return false;
        }
        closing = true;
        return true;
    }

    private CompletableFuture<Void> end() {
        streams.close();
        if (sharedName == null) {
            return begun(open::close);
        }
        List<CompletableFuture<Void>> ending = new ArrayList<>();
        try {
            if (open.release(vertx, sharedName)) {
                return begun(open::close);
            }
        } catch (RuntimeException refused) {
            ending.add(CompletableFuture.failedFuture(refused));
        }
        if (transfers != null) {
            transfers.close();
        }
        connections.forEach(connection -> ending.add(begun(connection::close)));
        regions.forEach(region -> ending.add(begun(region::close)));
        engine().connections().forEach(connection -> ending.add(begun(connection::quiesced)));
        return CompletableFuture.allOf(ending.toArray(CompletableFuture[]::new));
    }

    /** A step that throws counts as failed and does not keep the others from closing. */
    private static CompletableFuture<Void> begun(Supplier<CompletableFuture<Void>> step) {
        try {
            return step.get();
        } catch (RuntimeException refused) {
            return CompletableFuture.failedFuture(refused);
        }
    }

    /** Returns the engine's id, for logs. */
    @Override
    public String toString() {
        return "TransferClient[" + engine().id() + (sharedName == null ? "" : ", shared as " + sharedName) + "]";
    }
}
