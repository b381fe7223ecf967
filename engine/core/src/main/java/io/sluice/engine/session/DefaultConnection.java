package io.sluice.engine.session;

import io.sluice.engine.Connection;
import io.sluice.engine.ConnectionPath;
import io.sluice.engine.ConnectionState;
import io.sluice.engine.EngineId;
import io.sluice.engine.EngineLoop;
import io.sluice.engine.InFlightWindow;
import io.sluice.engine.Integrity;
import io.sluice.engine.InvalidDescriptorException;
import io.sluice.engine.LoopGroup;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.NotificationListener;
import io.sluice.engine.NotificationSubscription;
import io.sluice.engine.PreparedTransfer;
import io.sluice.engine.RegionDescriptor;
import io.sluice.engine.RegionNotFoundException;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.SluiceException;
import io.sluice.engine.StaleDescriptorException;
import io.sluice.engine.Transfer;
import io.sluice.engine.TransferCallback;
import io.sluice.engine.TransferOperations;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.bootstrap.PeerTerms;
import io.sluice.engine.flow.ElementPlan;
import io.sluice.engine.flow.TransferFactory;
import io.sluice.engine.memory.AttachMessage;
import io.sluice.engine.memory.AttachedRegion;
import io.sluice.engine.memory.RegionOwner;
import io.sluice.engine.progress.Poller;
import io.sluice.engine.providers.OpenTransport;
import io.sluice.engine.transport.PageTablePool;
import io.sluice.engine.transport.WorkRequest.Opcode;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The user's view of a connection: checks arguments on the calling thread and hands them over to the poller. */
final class DefaultConnection extends CheckedOperations<Transfer> implements Connection {
    private static final Duration MOST_PATIENCE = Duration.ofDays(365);

    private final PeerSession session;
    private final long id;
    private final PeerTerms terms;
    private final String transport;
    private final PreparedOperations prepared;
    private final AtomicReference<@Nullable Subscription> subscription = new AtomicReference<>();
    private volatile ConnectionState state = ConnectionState.OPEN;

    DefaultConnection(PeerSession session, RegionOwner regions, long id, PeerTerms terms, OpenTransport transport) {
        super(regions, new PageTablePool());
        this.session = session;
        this.prepared = new PreparedOperations(session, regions);
        this.id = id;
        this.terms = terms;
        this.transport = transport.name();
    }

    @Override
    TransferFactory transfers() {
        return session.transfers();
    }

    @Override
    Connection attachedBy() {
        return this;
    }

    /** The poller that runs the callbacks. */
    Poller poller() {
        return session.poller();
    }

    void moveTo(ConnectionState next) {
        state = next;
    }

    @Override
    public long id() {
        return id;
    }

    @Override
    public EngineId peer() {
        return terms.peer();
    }

    @Override
    public long peerEpoch() {
        return terms.peerEpoch();
    }

    @Override
    public String transport() {
        return transport;
    }

    @Override
    public List<ConnectionPath> paths() {
        return session.paths().faces();
    }

    @Override
    public String transportReason() {
        return terms.transportReason();
    }

    @Override
    public Integrity integrity() {
        return terms.integrity();
    }

    @Override
    public ConnectionState state() {
        return state;
    }

    @Override
    public EngineLoop loop() {
        return session.poller().stages();
    }

    @Override
    public @Nullable LoopGroup group() {
        return terms.group();
    }

    @Override
    public InFlightWindow window() {
        return session.flow().window();
    }

    @Override
    public int pending() {
        return session.flow().pending();
    }

    // ---- regions ----

    @Override
    public CompletableFuture<RemoteRegion> attach(RegionDescriptor descriptor) {
        return HandedOver.of(attachAll(List.of(descriptor)).thenApply(List::getFirst), this::detach);
    }

    @Override
    public CompletableFuture<List<RemoteRegion>> attach(List<RegionDescriptor> descriptors) {
        return HandedOver.of(attachAll(descriptors), attached -> attached.forEach(this::detach));
    }

    private CompletableFuture<List<RemoteRegion>> attachAll(List<RegionDescriptor> descriptors) {
        List<RegionDescriptor> wanted = List.copyOf(descriptors);
        for (RegionDescriptor descriptor : wanted) {
            SluiceException wrong = notOfThePeer(descriptor);
            if (wrong != null) {
                return CompletableFuture.failedFuture(wrong);
            }
        }
        List<CompletableFuture<List<RemoteRegion>>> parts = new ArrayList<>();
        for (int from = 0; from < wanted.size(); from += AttachMessage.BATCH) {
            List<RegionDescriptor> part = wanted.subList(from, Math.min(from + AttachMessage.BATCH, wanted.size()));
            parts.add(ask(
                    result -> session.regions().attach(part, session.poller().now(), result)));
        }
        return CompletableFuture.allOf(parts.toArray(CompletableFuture<?>[]::new))
                .handle((nothing, error) -> {
                    if (error == null) {
                        return parts.stream()
                                .flatMap(part -> part.join().stream())
                                .toList();
                    }
                    parts.stream()
                            .filter(part -> !part.isCompletedExceptionally())
                            .forEach(part -> part.join().forEach(this::detach));
                    throw error instanceof SluiceException known
                            ? known
                            : error.getCause() instanceof SluiceException cause
                                    ? cause
                                    : new SluiceException("attach failed", error);
                });
    }

    private @Nullable SluiceException notOfThePeer(RegionDescriptor descriptor) {
        if (!descriptor.engineId().equals(terms.peer())) {
            return new InvalidDescriptorException("the region belongs to engine " + descriptor.engineId()
                    + ", but this connection leads to " + terms.peer());
        }
        if (descriptor.epoch() != terms.peerEpoch()) {
            return new StaleDescriptorException("the descriptor is of an earlier run of engine " + terms.peer());
        }
        return null;
    }

    @Override
    public CompletableFuture<Void> detach(RemoteRegion region) {
        AttachedRegion attached = mine(region);
        return ask(result -> session.regions().detach(attached, session.poller().now(), result));
    }

    @Override
    public CompletableFuture<RegionDescriptor> lookup(String name) {
        if (name.getBytes(StandardCharsets.UTF_8).length > RegionOptions.MAX_NAME_BYTES) {
            return CompletableFuture.failedFuture(new RegionNotFoundException(
                    "no region has a name longer than " + RegionOptions.MAX_NAME_BYTES + " bytes"));
        }
        return ask(result -> session.regions().lookup(name, session.poller().now(), result));
    }

    @Override
    public CompletableFuture<Long> checksum(RemoteRegion region, long offset, long length) {
        AttachedRegion attached = mine(region);
        Objects.checkFromIndexSize(offset, length, region.length());
        if (!terms.knowsChecksums()) {
            return CompletableFuture.failedFuture(
                    new SluiceException("the peer's engine is of an earlier version, which supports no checksums"));
        }
        return ask(result -> session.askedChecksums()
                .ask(attached.key(), offset, length, session.poller().now(), result));
    }

    private <T> CompletableFuture<T> ask(Consumer<CompletableFuture<T>> question) {
        CompletableFuture<T> result = new CompletableFuture<>();
        session.poller().execute(() -> {
            SluiceException error = session.endError();
            if (error == null) {
                question.accept(result);
            } else {
                result.completeExceptionally(error);
            }
        });
        return result;
    }

    // ---- transfers ----

    @Override
    Transfer checked(PreparedTransfer transfer) {
        transfers().start(transfer);
        return transfer;
    }

    @Override
    PreparedTransfer single(
            Opcode operation,
            ElementPlan plan,
            MemoryRegion local,
            RemoteRegion remote,
            TransferOptions options,
            TransferCallback callback) {
        return transfers().single(operation, plan, options, callback);
    }

    @Override
    public TransferOperations<PreparedTransfer> prepared() {
        return prepared;
    }

    @Override
    public CompletableFuture<Void> flush() {
        return session.flow().flush();
    }

    @Override
    public CompletableFuture<Void> quiet() {
        return session.flow().quiet();
    }

    // ---- notifications ----

    @Override
    public Transfer notify(byte[] payload, TransferOptions options, TransferCallback callback) {
        Objects.requireNonNull(options, "options");
        Objects.requireNonNull(callback, "callback");
        if (options.startAfter() != null) {
            throw new IllegalArgumentException("a notification cannot start after an event; notify when it happens");
        }
        if (payload.length > maxNotificationBytes()) {
            throw new IllegalArgumentException("a notification to this peer has at most " + maxNotificationBytes()
                    + " bytes, not " + payload.length);
        }
        return session.flow().submitNotification(payload.clone(), options, callback);
    }

    @Override
    public int maxNotificationBytes() {
        return terms.maxNotificationBytes();
    }

    @Override
    public NotificationSubscription subscribe(NotificationListener listener) {
        Subscription mine = new Subscription(Objects.requireNonNull(listener, "listener"));
        if (!subscription.compareAndSet(null, mine)) {
            throw new IllegalStateException("the connection's notifications have a listener already");
        }
        session.poller().execute(() -> session.inbox().listen(mine));
        return mine;
    }

    private final class Subscription implements NotificationSubscription, NotificationInbox.Taker {
        private final NotificationListener listener;
        private volatile boolean cancelled;

        Subscription(NotificationListener listener) {
            this.listener = listener;
        }

        /** The connection, for the log. */
        @Override
        public String toString() {
            return DefaultConnection.this.toString();
        }

        @Override
        public void request(long count) {
            if (count < 1) {
                throw new IllegalArgumentException("a request is for at least 1, not " + count);
            }
            session.poller().execute(() -> session.inbox().request(this, count));
        }

        @Override
        public void cancel() {
            if (!cancelled) {
                cancelled = true;
                session.poller().execute(() -> session.inbox().leave(this));
                // The next listener may come at once: the poller sees it after the end of this one.
                subscription.compareAndSet(this, null);
            }
        }

        @Override
        public boolean isActive() {
            return !cancelled;
        }

        @Override
        public void notification(byte[] payload) {
            listener.notification(payload);
        }

        @Override
        public void ended(@Nullable SluiceException error) {
            subscription.compareAndSet(this, null);
            listener.ended(error);
        }
    }

    // ---- the end ----

    @Override
    public CompletableFuture<Void> quiesced() {
        return session.flow().quiesced();
    }

    @Override
    public CompletionStage<Void> ended() {
        return session.ended().copy();
    }

    @Override
    public CompletableFuture<Void> shutdown(Duration patience) {
        if (patience.isNegative()) {
            throw new IllegalArgumentException("patience must not be negative: " + patience);
        }
        session.poller().execute(() -> session.shutdown(boundedNanos(patience)));
        return session.quiescent().copy();
    }

    /** A time that can be added to one of the clock's. */
    private static long boundedNanos(Duration time) {
        return time.compareTo(MOST_PATIENCE) < 0 ? time.toNanos() : MOST_PATIENCE.toNanos();
    }

    @Override
    public CompletableFuture<Void> close() {
        session.poller().execute(session::closeHere);
        return session.quiescent().copy();
    }

    @Override
    public String toString() {
        return "Connection[" + id + ", " + transport + ", peer " + terms.peer() + ", " + state + "]";
    }
}
