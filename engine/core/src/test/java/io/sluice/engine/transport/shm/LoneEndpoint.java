package io.sluice.engine.transport.shm;

import io.sluice.engine.Access;
import io.sluice.engine.EngineId;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.Integrity;
import io.sluice.engine.MemoryKind;
import io.sluice.engine.RegionDescriptor;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.SluiceException;
import io.sluice.engine.progress.Poller;
import io.sluice.engine.transport.CompletionStatus;
import io.sluice.engine.transport.EndpointContext;
import io.sluice.engine.transport.EventLoop;
import io.sluice.engine.transport.ExportedRegion;
import io.sluice.engine.transport.NotificationSender;
import io.sluice.engine.transport.RemoteKey;
import io.sluice.engine.transport.WireCounter;
import io.sluice.engine.transport.WorkRequest;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.nio.ByteBuffer;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A shm endpoint without an engine: with a loop of its own, and a peer that the test makes out. Like an engine it closes the
 * endpoint when that has failed.
 */
final class LoneEndpoint implements EndpointContext, AutoCloseable {
    private static final Set<Access> RIGHTS = EnumSet.allOf(Access.class);

    private final EngineOptions options = PatientOptions.builder().build();
    private final Poller poller = new Poller("lone endpoint", 0, options, failed -> {});
    private final boolean initiator;
    private final ShmTransport transport;
    private final ShmEndpoint endpoint;
    private final BlockingQueue<byte[]> notifications = new LinkedBlockingQueue<>();
    private final BlockingQueue<byte[]> sent = new LinkedBlockingQueue<>();
    private final BlockingQueue<SluiceException> failures = new LinkedBlockingQueue<>();
    private final AtomicInteger wordsChanged = new AtomicInteger();

    private volatile boolean keptWhenFailed;
    private volatile boolean failsToSend;

    private LoneEndpoint(boolean initiator, ShmOptions shm) {
        this.initiator = initiator;
        transport = new ShmTransport(shm);
        poller.start();
        endpoint = onLoop(() -> (ShmEndpoint) transport.openLoop(poller).endpoint(this));
    }

    static LoneEndpoint initiating() {
        return new LoneEndpoint(true, ShmOptions.builder().build());
    }

    static LoneEndpoint accepting() {
        return new LoneEndpoint(false, ShmOptions.builder().build());
    }

    private <T> T onLoop(Supplier<T> call) {
        CompletableFuture<T> result = new CompletableFuture<>();
        poller.execute(() -> {
            try {
                result.complete(call.get());
            } catch (RuntimeException | Error e) {
                result.completeExceptionally(e);
            }
        });
        return Patience.await(result);
    }

    private void doOnLoop(Runnable call) {
        onLoop(() -> {
            call.run();
            return true;
        });
    }

    ShmTransport transport() {
        return transport;
    }

    /** A failure does not close it, as in an engine that waits for the peer's goodbye. */
    void keepWhenFailed() {
        keptWhenFailed = true;
    }

    /** Its next message over the control channel does not leave. */
    void failToSend() {
        failsToSend = true;
    }

    /** Memory that the endpoint's engine would have allocated. */
    FileRegion region(long bytes, Set<Access> access) {
        return new FileRegion(
                (SharedFile) Objects.requireNonNull(transport.allocate(bytes, new RegionOptions(access, null))),
                access);
    }

    ShmOffer offer() {
        return ShmOffer.read(onLoop(endpoint::offer));
    }

    void begin(ShmOffer peer) {
        begin(peer.toBytes());
    }

    void begin(byte[] peer) {
        doOnLoop(() -> endpoint.begin(peer));
    }

    /** Delivers a message as the control channel does; an error of the endpoint is one of the connection. */
    void received(byte[] message) {
        doOnLoop(() -> {
            try {
                endpoint.received(ByteBuffer.wrap(message));
            } catch (SluiceException e) {
                failed(e);
            }
        });
    }

    byte[] keysOf(long handle, FileRegion region) {
        return onLoop(() -> endpoint.keysOf(handle, region));
    }

    void exportEnded(long handle) {
        doOnLoop(() -> endpoint.exportEnded(handle));
    }

    /** A key as {@code attach} would make it. */
    ShmRemoteKey key(long handle, byte[] keys, long bytes) {
        RegionDescriptor descriptor =
                new RegionDescriptor(EngineId.random(), 1, 2, 3, MemoryKind.values()[0], RIGHTS, 0, bytes);
        return (ShmRemoteKey) onLoop(() -> endpoint.remoteKey(handle, descriptor, ByteBuffer.wrap(keys)));
    }

    /** Begins to prepare; the outcome completes with the error, or with null. */
    CompletableFuture<@Nullable SluiceException> prepare(List<ShmRemoteKey> keys) {
        CompletableFuture<@Nullable SluiceException> outcome = new CompletableFuture<>();
        doOnLoop(() -> endpoint.prepare(List.<RemoteKey>copyOf(keys), outcome::complete));
        return outcome;
    }

    void detach(ShmRemoteKey key) {
        doOnLoop(() -> endpoint.detached(key));
    }

    ShmEndpoint endpoint() {
        return endpoint;
    }

    void notify(byte[] payload) {
        doOnLoop(() -> {
            NotificationSender sender = endpoint.notificationSender();
            if (sender != null) {
                sender.send(payload);
            }
        });
    }

    byte[] nextNotification() {
        return Patience.take("a notification", notifications);
    }

    /** The next message that it has sent over the control channel. */
    byte[] nextSent() {
        return Patience.take("a message", sent);
    }

    boolean hasSent() {
        return !sent.isEmpty();
    }

    SluiceException nextFailure() {
        return Patience.take("a failure", failures);
    }

    boolean hasFailed() {
        return !failures.isEmpty();
    }

    /** Lets the loop do what it was asked for before. */
    void settle() {
        doOnLoop(() -> {});
    }

    int wordsChangedCount() {
        return wordsChanged.get();
    }

    @Override
    public void close() {
        doOnLoop(endpoint::close);
        Patience.until("it is quiescent", () -> onLoop(endpoint::isQuiescent));
        Patience.await(poller.stop());
        transport.close();
    }

    // ---- what the endpoint tells its engine ----

    @Override
    public EventLoop loop() {
        return poller;
    }

    @Override
    public EngineOptions options() {
        return options;
    }

    @Override
    public Integrity integrity() {
        return Integrity.NONE;
    }

    @Override
    public boolean initiator() {
        return initiator;
    }

    @Override
    public @Nullable ExportedRegion exportedRegion(long handle) {
        return null;
    }

    @Override
    public void openLanes(int count) {
        throw new AssertionError("shm has no sockets of its own");
    }

    @Override
    public void send(byte[] message) {
        if (failsToSend) {
            failsToSend = false;
            throw new SluiceException("there is no memory for the message");
        }
        sent.add(message);
    }

    @Override
    public void notified(byte[] payload) {
        notifications.add(payload);
    }

    @Override
    public void notificationsSendable() {}

    @Override
    public void wordsChanged() {
        wordsChanged.incrementAndGet();
    }

    @Override
    public void established() {
        // what the test does with it does not wait for that
    }

    @Override
    public void completed(WorkRequest request, CompletionStatus status) {}

    @Override
    public void postable() {}

    @Override
    public void failed(SluiceException error) {
        failures.add(error);
        if (!keptWhenFailed) {
            endpoint.close();
        }
    }

    @Override
    public void served(WorkRequest.Opcode operation, long bytes) {}

    @Override
    public void count(WireCounter counter, long delta) {}

    @Override
    public void refused() {}
}
