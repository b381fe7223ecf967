package io.sluice.engine.transport.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.Access;
import io.sluice.engine.AtomicDomain;
import io.sluice.engine.EngineId;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.Integrity;
import io.sluice.engine.MemoryKind;
import io.sluice.engine.RegionDescriptor;
import io.sluice.engine.RegionMemory;
import io.sluice.engine.SluiceException;
import io.sluice.engine.progress.Poller;
import io.sluice.engine.transport.CompletionStatus;
import io.sluice.engine.transport.EndpointContext;
import io.sluice.engine.transport.EventLoop;
import io.sluice.engine.transport.ExportedRegion;
import io.sluice.engine.transport.NotificationSender;
import io.sluice.engine.transport.RegisteredMemory;
import io.sluice.engine.transport.RemoteKey;
import io.sluice.engine.transport.WireCounter;
import io.sluice.engine.transport.WorkRequest;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A verbs endpoint without an engine: with a loop and a region of its own, and a peer that the test makes out. */
final class LoneEndpoint implements EndpointContext, AutoCloseable {
    /** The handle of its attached region. */
    static final long HANDLE = 77;

    private static final Set<Access> RIGHTS = EnumSet.allOf(Access.class);

    private final EngineOptions options;
    private final Poller poller;
    private final Arena arena;
    private final VerbsTransport transport;
    private final MemorySegment segment;
    private final RegisteredMemory registration;
    private final WordRegion region;
    private final VerbsLoop shared;
    private final VerbsEndpoint endpoint;
    private final BlockingQueue<byte[]> notifications = new LinkedBlockingQueue<>();
    private final BlockingQueue<SluiceException> failures = new LinkedBlockingQueue<>();
    private final List<LoneEndpoint> companions = new ArrayList<>();
    private final BlockingQueue<byte[]> sent = new LinkedBlockingQueue<>();
    private final AtomicInteger refusals = new AtomicInteger();
    private volatile boolean established;

    LoneEndpoint(VerbsOptions verbs, long regionBytes) {
        this(verbs, regionBytes, 1);
    }

    LoneEndpoint(VerbsOptions verbs, long regionBytes, int lanes) {
        options = PatientOptions.builder().lanes(lanes).build();
        poller = new Poller("lone endpoint", 0, options, failed -> {});
        arena = Arena.ofShared();
        transport = new VerbsTransport(verbs, options.windowOperations(), adapter -> Long.MAX_VALUE);
        segment = arena.allocate(regionBytes, 4096);
        registration = transport.register(RegionMemory.host(segment), RIGHTS, AtomicDomain.TARGET_CPU);
        region = new WordRegion(segment, registration);
        poller.start();
        shared = onLoop(() -> (VerbsLoop) transport.openLoop(poller));
        endpoint = onLoop(() -> {
            poller.add(shared);
            return (VerbsEndpoint) shared.endpoint(this);
        });
    }

    private LoneEndpoint(LoneEndpoint first) {
        options = first.options;
        poller = first.poller;
        arena = first.arena;
        transport = first.transport;
        segment = first.segment;
        registration = first.registration;
        region = first.region;
        shared = first.shared;
        endpoint = onLoop(() -> (VerbsEndpoint) shared.endpoint(this));
    }

    /** Another on the same loop, with the same region; it is closed with this one. */
    LoneEndpoint companion() {
        LoneEndpoint made = new LoneEndpoint(this);
        companions.add(made);
        return made;
    }

    void doOnLoop(Runnable task) {
        onLoop(() -> {
            task.run();
            return true;
        });
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

    MemorySegment segment() {
        return segment;
    }

    WordRegion region() {
        return region;
    }

    byte[] offer() {
        return onLoop(endpoint::offer);
    }

    void begin(byte[] peerOffer) {
        onLoop(() -> {
            endpoint.begin(peerOffer);
            return true;
        });
        assertThat(failures).isEmpty();
        assertThat(established).isTrue();
    }

    /** Connects it to another; what they would say over a control channel is kept to themselves. */
    void connect(LoneEndpoint other) {
        byte[] mine = offer();
        byte[] theirs = other.offer();
        begin(theirs);
        other.begin(mine);
    }

    /** Delivers a message as the control channel does. */
    void received(ByteBuffer message) {
        onLoop(() -> {
            endpoint.received(message);
            return true;
        });
    }

    /** A region that the peer has attached ends. */
    void exportEnded(long handle) {
        doOnLoop(() -> endpoint.exportEnded(handle));
    }

    /** Does something with its first lane, on the loop. */
    void onLane(Consumer<VerbsLane> what) {
        onLoop(() -> {
            what.accept(endpoint.lane(0));
            return true;
        });
    }

    byte[] keys() {
        return onLoop(() -> Objects.requireNonNull(endpoint.keysOf(0, region)));
    }

    RemoteKey attach(byte[] keys, long bytes) {
        RegionDescriptor descriptor =
                new RegionDescriptor(EngineId.random(), 1, 2, 3, MemoryKind.values()[0], RIGHTS, 0, bytes);
        return onLoop(() -> endpoint.remoteKey(1, descriptor, ByteBuffer.wrap(keys)));
    }

    /** Posts a transfer of the whole region, and waits for its success. */
    void transfer(WorkRequest.Opcode operation, RemoteKey remote) {
        assertThat(Patience.await(onLoop(() -> post(operation, remote)))).isEqualTo(CompletionStatus.SUCCESS);
    }

    /** Posts a transfer of the whole region, on the loop; gives how it ends. */
    CompletableFuture<CompletionStatus> post(WorkRequest.Opcode operation, RemoteKey remote) {
        PostedRequest request = new PostedRequest(operation, segment, registration, remote);
        assertThat(endpoint.post(new WorkRequest[] {request}, 0, 1)).isEqualTo(1);
        return request.status;
    }

    /** How often the endpoints of the loop have posted, until now. */
    long crossings() {
        return shared.posts();
    }

    /** Closes the endpoint. On the loop. */
    void closeEndpoint() {
        endpoint.close();
    }

    void sendNotification(byte[] payload) {
        onLoop(() -> {
            NotificationSender sender = endpoint.notificationSender();
            assertThat(sender.hasRoom()).isTrue();
            sender.send(payload);
            return true;
        });
    }

    byte[] nextNotification() {
        return Patience.take("a notification", notifications);
    }

    BlockingQueue<SluiceException> failures() {
        return failures;
    }

    /** The messages that it wanted to send over the control channel. */
    BlockingQueue<byte[]> sent() {
        return sent;
    }

    /** How many requests of the peer it has refused. */
    int refusals() {
        return refusals.get();
    }

    @Override
    public void close() {
        doOnLoop(() -> {
            companions.forEach(LoneEndpoint::closeEndpoint);
            endpoint.close();
            poller.remove(shared);
            shared.close();
        });
        Patience.await(poller.stop());
        registration.close();
        transport.close();
        arena.close();
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
        return true;
    }

    @Override
    public @Nullable ExportedRegion exportedRegion(long handle) {
        return handle == HANDLE ? region : null;
    }

    @Override
    public void openLanes(int count) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void send(byte[] message) {
        // there is no control channel
        sent.add(message);
    }

    @Override
    public void notified(byte[] payload) {
        notifications.add(payload);
    }

    @Override
    public void notificationsSendable() {}

    @Override
    public void wordsChanged() {}

    @Override
    public void established() {
        established = true;
    }

    @Override
    public void completed(WorkRequest request, CompletionStatus status) {
        ((PostedRequest) request).status.complete(status);
    }

    @Override
    public void postable() {}

    @Override
    public void failed(SluiceException error) {
        failures.add(error);
    }

    @Override
    public void served(WorkRequest.Opcode operation, long bytes) {}

    @Override
    public void count(WireCounter counter, long delta) {}

    @Override
    public void refused() {
        refusals.incrementAndGet();
    }

    /** A request and how it ended. */
    private static final class PostedRequest extends WorkRequest {
        private final CompletableFuture<CompletionStatus> status = new CompletableFuture<>();

        PostedRequest(Opcode operation, MemorySegment local, RegisteredMemory registration, RemoteKey remote) {
            describe(operation, RegionMemory.host(local), registration, 0, local.byteSize(), remote, 0);
        }
    }
}
