package io.sluice.reactor;

import io.sluice.engine.Connection;
import io.sluice.engine.ConnectionPath;
import io.sluice.engine.ConnectionState;
import io.sluice.engine.EngineId;
import io.sluice.engine.EngineLoop;
import io.sluice.engine.FetchCallback;
import io.sluice.engine.InFlightWindow;
import io.sluice.engine.Integrity;
import io.sluice.engine.LoopGroup;
import io.sluice.engine.MemoryKind;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.NotificationListener;
import io.sluice.engine.NotificationSubscription;
import io.sluice.engine.PageCallback;
import io.sluice.engine.PreparedTransfer;
import io.sluice.engine.RegionDescriptor;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.SignalUpdate;
import io.sluice.engine.SluiceException;
import io.sluice.engine.Transfer;
import io.sluice.engine.TransferCallback;
import io.sluice.engine.TransferElement;
import io.sluice.engine.TransferOperations;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.VectoredTransferCallback;
import java.time.Duration;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/** A connection without a peer: each transfer is handed to the test, which decides how and when it ends. */
final class FakeConnection implements Connection, InFlightWindow {
    private static final RegionDescriptor DESCRIPTOR =
            new RegionDescriptor(new EngineId(1, 2), 3, 4, 5, MemoryKind.values()[0], Set.of(), 0, 1 << 20);

    private final int operationLimit;
    private final boolean remembering;
    private final Consumer<FakeTransfer> onSubmit;
    private final AtomicInteger submitted = new AtomicInteger();
    private final AtomicInteger inFlight = new AtomicInteger();
    private final AtomicInteger mostInFlight = new AtomicInteger();

    /** All that were submitted, also as elements of a vectored one. */
    final Queue<FakeTransfer> transfers = new ConcurrentLinkedQueue<>();

    final Queue<FakeVectoredTransfer> vectoredTransfers = new ConcurrentLinkedQueue<>();
    final CompletableFuture<RemoteRegion> attached = new CompletableFuture<>();
    final CompletableFuture<RegionDescriptor> found = new CompletableFuture<>();
    final CompletableFuture<Void> detached = new CompletableFuture<>();
    final CompletableFuture<Void> flushed = new CompletableFuture<>();
    final CompletableFuture<Long> checksum = new CompletableFuture<>();
    final CompletableFuture<Void> quiet = new CompletableFuture<>();
    final CompletableFuture<Void> quiesced = new CompletableFuture<>();
    final CompletableFuture<Void> ended = new CompletableFuture<>();
    final CompletableFuture<Void> closed = new CompletableFuture<>();
    final AtomicInteger attaches = new AtomicInteger();
    final AtomicInteger detaches = new AtomicInteger();
    final AtomicInteger flushes = new AtomicInteger();
    final AtomicInteger quiets = new AtomicInteger();
    final AtomicInteger shutdowns = new AtomicInteger();
    final AtomicInteger closes = new AtomicInteger();
    final FakeNotifications notifications = new FakeNotifications();
    volatile TransferOptions lastOptions;
    volatile byte[] lastPayload;

    /** The error that refuses a vectored transfer as a whole; null for none. */
    volatile RuntimeException vectoredRefusal;

    FakeConnection(int operationLimit, Consumer<FakeTransfer> onSubmit) {
        this(operationLimit, true, onSubmit);
    }

    private FakeConnection(int operationLimit, boolean remembering, Consumer<FakeTransfer> onSubmit) {
        this.operationLimit = operationLimit;
        this.remembering = remembering;
        this.onSubmit = onSubmit;
    }

    /** Keeps no list of its transfers, so that millions may pass and no subscriber is held. */
    static FakeConnection forgetful(int operationLimit, Consumer<FakeTransfer> onSubmit) {
        return new FakeConnection(operationLimit, false, onSubmit);
    }

    /** The test ends each transfer. */
    static FakeConnection manual() {
        return manual(256);
    }

    static FakeConnection manual(int operationLimit) {
        return new FakeConnection(operationLimit, transfer -> {});
    }

    /** Each transfer succeeds inside the call that submits it. */
    static FakeConnection immediate() {
        return new FakeConnection(256, FakeTransfer::succeed);
    }

    /** Each submission throws. */
    static FakeConnection refusing(RuntimeException refusal) {
        return new FakeConnection(256, transfer -> {
            throw refusal;
        });
    }

    RemoteRegion remote() {
        return new FakeRemoteRegion(this, DESCRIPTOR);
    }

    TransferElement element(long length) {
        return new TransferElement(new FakeRegion(length), 0, remote(), 0, length);
    }

    FakeTransfer only() {
        if (transfers.size() != 1) {
            throw new AssertionError(transfers.size() + " transfers were submitted, not one");
        }
        return transfers.peek();
    }

    int submitted() {
        return submitted.get();
    }

    int inFlight() {
        return inFlight.get();
    }

    int mostInFlight() {
        return mostInFlight.get();
    }

    void left() {
        inFlight.decrementAndGet();
    }

    private Transfer submit(String what, TransferOptions options, TransferCallback callback) {
        return submit(what, options, (transfer, previous, error) -> callback.terminated(transfer, error));
    }

    private Transfer submit(String what, TransferOptions options, FetchCallback callback) {
        FakeTransfer transfer = new FakeTransfer(this, what, callback);
        lastOptions = options;
        submitted.incrementAndGet();
        mostInFlight.accumulateAndGet(inFlight.incrementAndGet(), Math::max);
        if (remembering) {
            transfers.add(transfer);
        }
        try {
            onSubmit.accept(transfer);
        } catch (RuntimeException refused) {
            left();
            throw refused;
        }
        return transfer;
    }

    @Override
    public Transfer write(
            MemoryRegion local,
            long localOffset,
            RemoteRegion remote,
            long remoteOffset,
            long length,
            TransferOptions options,
            TransferCallback callback) {
        return submit("write " + localOffset + " " + remoteOffset + " " + length, options, callback);
    }

    @Override
    public Transfer read(
            MemoryRegion local,
            long localOffset,
            RemoteRegion remote,
            long remoteOffset,
            long length,
            TransferOptions options,
            TransferCallback callback) {
        return submit("read " + localOffset + " " + remoteOffset + " " + length, options, callback);
    }

    @Override
    public Transfer writeWithSignal(
            MemoryRegion local,
            long localOffset,
            RemoteRegion remote,
            long remoteOffset,
            long length,
            SignalUpdate signal,
            TransferOptions options,
            TransferCallback callback) {
        String what = "writeWithSignal " + localOffset + " " + remoteOffset + " " + length + " " + text(signal);
        return submit(what, options, callback);
    }

    @Override
    public Transfer put(
            RemoteRegion remote,
            long remoteOffset,
            long value,
            int bytes,
            TransferOptions options,
            TransferCallback callback) {
        return submit("put " + remoteOffset + " " + value + " " + bytes, options, callback);
    }

    @Override
    public Transfer signal(SignalUpdate signal, TransferOptions options, TransferCallback callback) {
        return submit("signal " + text(signal), options, callback);
    }

    @Override
    public Transfer fetchAdd(
            RemoteRegion remote, long remoteOffset, long addend, TransferOptions options, FetchCallback callback) {
        return submit("fetchAdd " + remoteOffset + " " + addend, options, callback);
    }

    @Override
    public Transfer compareAndSwap(
            RemoteRegion remote,
            long remoteOffset,
            long expected,
            long replacement,
            TransferOptions options,
            FetchCallback callback) {
        return submit("compareAndSwap " + remoteOffset + " " + expected + " " + replacement, options, callback);
    }

    private static String text(SignalUpdate update) {
        return update.signal().offset() + " " + update.addend() + " " + update.order();
    }

    @Override
    public TransferOperations<PreparedTransfer> prepared() {
        throw new UnsupportedOperationException();
    }

    @Override
    public Transfer notify(byte[] payload, TransferOptions options, TransferCallback callback) {
        lastPayload = payload;
        return submit("notify " + payload.length, options, callback);
    }

    @Override
    public Transfer writeVectored(
            List<TransferElement> elements, TransferOptions options, VectoredTransferCallback callback) {
        return submit("write", elements, options, callback);
    }

    @Override
    public Transfer readVectored(
            List<TransferElement> elements, TransferOptions options, VectoredTransferCallback callback) {
        return submit("read", elements, options, callback);
    }

    @Override
    public Transfer writePages(
            MemoryRegion local,
            int[] localPages,
            RemoteRegion remote,
            int[] remotePages,
            long pageBytes,
            TransferOptions options,
            PageCallback callback) {
        return submit(
                "writePages " + Arrays.toString(localPages) + " " + Arrays.toString(remotePages) + " " + pageBytes,
                options,
                (transfer, error) -> callback.terminated(transfer, new BitSet(), error));
    }

    @Override
    public Transfer writePages(
            MemoryRegion local,
            long[] localOffsets,
            RemoteRegion remote,
            long[] remoteOffsets,
            long pageBytes,
            TransferOptions options,
            PageCallback callback) {
        return submit(
                "writePages " + Arrays.toString(localOffsets) + " " + Arrays.toString(remoteOffsets) + " " + pageBytes,
                options,
                (transfer, error) -> callback.terminated(transfer, new BitSet(), error));
    }

    @Override
    public Transfer readPages(
            MemoryRegion local,
            int[] localPages,
            RemoteRegion remote,
            int[] remotePages,
            long pageBytes,
            TransferOptions options,
            PageCallback callback) {
        return submit(
                "readPages " + Arrays.toString(localPages) + " " + Arrays.toString(remotePages) + " " + pageBytes,
                options,
                (transfer, error) -> callback.terminated(transfer, new BitSet(), error));
    }

    @Override
    public Transfer readPages(
            MemoryRegion local,
            long[] localOffsets,
            RemoteRegion remote,
            long[] remoteOffsets,
            long pageBytes,
            TransferOptions options,
            PageCallback callback) {
        return submit(
                "readPages " + Arrays.toString(localOffsets) + " " + Arrays.toString(remoteOffsets) + " " + pageBytes,
                options,
                (transfer, error) -> callback.terminated(transfer, new BitSet(), error));
    }

    private Transfer submit(
            String operation,
            List<TransferElement> elements,
            TransferOptions options,
            VectoredTransferCallback callback) {
        RuntimeException refusal = vectoredRefusal;
        if (refusal != null) {
            throw refusal;
        }
        FakeVectoredTransfer vectored = new FakeVectoredTransfer(
                this,
                elements.stream()
                        .map(element -> operation + " " + element.localOffset() + " " + element.remoteOffset() + " "
                                + element.length())
                        .toList(),
                callback);
        lastOptions = options;
        submitted.addAndGet(elements.size());
        mostInFlight.accumulateAndGet(inFlight.addAndGet(elements.size()), Math::max);
        if (remembering) {
            vectoredTransfers.add(vectored);
            transfers.addAll(vectored.elements());
        }
        for (FakeTransfer element : vectored.elements()) {
            try {
                onSubmit.accept(element);
            } catch (SluiceException refused) {
                element.end(refused);
            }
        }
        return vectored;
    }

    @Override
    public CompletableFuture<RemoteRegion> attach(RegionDescriptor descriptor) {
        attaches.incrementAndGet();
        return attached;
    }

    @Override
    public CompletableFuture<List<RemoteRegion>> attach(List<RegionDescriptor> descriptors) {
        attaches.incrementAndGet();
        return attached.thenApply(List::of);
    }

    @Override
    public CompletableFuture<Void> detach(RemoteRegion region) {
        detaches.incrementAndGet();
        return detached;
    }

    @Override
    public CompletableFuture<RegionDescriptor> lookup(String name) {
        return found;
    }

    @Override
    public NotificationSubscription subscribe(NotificationListener listener) {
        return notifications.subscribe(listener);
    }

    @Override
    public CompletableFuture<Void> flush() {
        flushes.incrementAndGet();
        return flushed;
    }

    @Override
    public CompletableFuture<Long> checksum(RemoteRegion region, long offset, long length) {
        return checksum;
    }

    @Override
    public CompletableFuture<Void> quiet() {
        quiets.incrementAndGet();
        return quiet;
    }

    @Override
    public CompletableFuture<Void> quiesced() {
        return quiesced;
    }

    @Override
    public CompletionStage<Void> ended() {
        return ended;
    }

    @Override
    public CompletableFuture<Void> shutdown(Duration patience) {
        shutdowns.incrementAndGet();
        return closed;
    }

    @Override
    public CompletableFuture<Void> close() {
        closes.incrementAndGet();
        return closed;
    }

    @Override
    public long id() {
        return 1;
    }

    @Override
    public EngineId peer() {
        return new EngineId(1, 2);
    }

    @Override
    public long peerEpoch() {
        return 1;
    }

    @Override
    public EngineLoop loop() {
        throw new UnsupportedOperationException();
    }

    @Override
    public LoopGroup group() {
        throw new UnsupportedOperationException();
    }

    @Override
    public String transport() {
        return "fake";
    }

    @Override
    public Integrity integrity() {
        return Integrity.NONE;
    }

    @Override
    public List<ConnectionPath> paths() {
        return List.of();
    }

    @Override
    public String transportReason() {
        return "there is no other";
    }

    @Override
    public ConnectionState state() {
        return ConnectionState.OPEN;
    }

    @Override
    public InFlightWindow window() {
        return this;
    }

    @Override
    public int pending() {
        return inFlight.get();
    }

    @Override
    public int maxNotificationBytes() {
        return 1024;
    }

    @Override
    public int operationLimit() {
        return operationLimit;
    }

    @Override
    public long byteLimit() {
        return Long.MAX_VALUE;
    }

    @Override
    public int operations() {
        return inFlight.get();
    }

    @Override
    public long bytes() {
        return 0;
    }

    @Override
    public int maxOperationsSeen() {
        return mostInFlight.get();
    }

    @Override
    public long maxBytesSeen() {
        return 0;
    }
}
