package io.sluice.samples.bench;

import io.sluice.engine.Connection;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.PreparedTransfer;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.RemoteSignal;
import io.sluice.engine.SignalUpdate;
import io.sluice.engine.TransferElement;
import io.sluice.engine.TransferOperations;
import io.sluice.engine.TransferOptions;
import io.sluice.reactor.ReactiveConnection;
import io.sluice.vertx.TransferConnection;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import reactor.core.publisher.Mono;

/** Makes what starts a connection's transfers. */
final class Submissions {

    private static final TransferOptions OPTIONS = TransferOptions.defaults();

    private final Initiator.ClientConnection face;
    private final Connection connection;
    private final MemoryRegion local;
    private final long localBase;
    private final RemoteRegion remote;
    private final long remoteBase;
    private final Layout layout;

    /**
     * Between these.
     *
     * @param localBase where the connection's ranges begin in the local region
     * @param remoteBase where they begin in the remote region
     */
    Submissions(
            Initiator.ClientConnection face,
            MemoryRegion local,
            long localBase,
            RemoteRegion remote,
            long remoteBase,
            Layout layout) {
        this.face = face;
        this.connection = face.connection();
        this.local = local;
        this.localBase = localBase;
        this.remote = remote;
        this.remoteBase = remoteBase;
        this.layout = layout;
    }

    /**
     * For what moves bytes, or changes a word.
     *
     * @param slots transfers at a time
     */
    Submission of(BenchOperation operation, Api api, int iov, int slots) {
        return switch (api) {
            case ENGINE -> engine(operation, iov, slots);
            case REACTOR -> reactor(operation, iov);
            case VERTX -> vertx(operation, iov);
        };
    }

    private Submission engine(BenchOperation operation, int iov, int slots) {
        TransferOperations<PreparedTransfer> prepared = connection.prepared();
        long size = layout.size();
        int transfers = layout.transfers(iov);
        return switch (operation) {
            case WRITE ->
                single(
                        slots,
                        transfers,
                        (transfer, callback) -> prepared.write(
                                local, localOffset(transfer), remote, remoteOffset(transfer), size, OPTIONS, callback));
            case READ ->
                single(
                        slots,
                        transfers,
                        (transfer, callback) -> prepared.read(
                                local, localOffset(transfer), remote, remoteOffset(transfer), size, OPTIONS, callback));
            case WRITEV ->
                PreparedSubmission.each(
                        slots,
                        transfers,
                        (transfer, callback) -> prepared.writeVectored(elements(transfer, iov), OPTIONS, callback));
            case READV ->
                PreparedSubmission.each(
                        slots,
                        transfers,
                        (transfer, callback) -> prepared.readVectored(elements(transfer, iov), OPTIONS, callback));
            case FETCH_ADD ->
                PreparedSubmission.each(
                        slots,
                        transfers,
                        (transfer, callback) ->
                                prepared.fetchAdd(remote, remoteOffset(transfer), 1, OPTIONS, callback));
            case SIGNAL ->
                PreparedSubmission.each(
                        slots, transfers, (transfer, callback) -> prepared.signal(update(transfer), OPTIONS, callback));
            case NOTIFY, CONNECT -> throw new IllegalArgumentException(operation + " has no ranges");
        };
    }

    /** There may be far more different ones, with verification, than need to be prepared. */
    private Submission single(int slots, int transfers, PreparedSubmission.Preparation preparation) {
        return transfers <= slots
                ? PreparedSubmission.each(slots, transfers, preparation)
                : PreparedSubmission.any(
                        slots,
                        preparation,
                        (transfer, which) -> transfer.retarget(localOffset(which), remoteOffset(which), layout.size()));
    }

    private Submission reactor(BenchOperation operation, int iov) {
        ReactiveConnection reactive = ReactiveConnection.from(connection);
        long size = layout.size();
        return switch (operation) {
            case WRITE ->
                (slot, transfer) -> reactive.write(local, localOffset(transfer), remote, remoteOffset(transfer), size)
                        .subscribe(slot);
            case READ ->
                (slot, transfer) -> reactive.read(local, localOffset(transfer), remote, remoteOffset(transfer), size)
                        .subscribe(slot);
            case WRITEV -> {
                List<List<TransferElement>> lists = lists(iov);
                yield (slot, transfer) ->
                        reactive.writeVectored(lists.get(transfer)).subscribe(slot);
            }
            case READV -> {
                List<List<TransferElement>> lists = lists(iov);
                yield (slot, transfer) ->
                        reactive.readVectored(lists.get(transfer)).subscribe(slot);
            }
            case FETCH_ADD ->
                (slot, transfer) ->
                        reactive.fetchAdd(remote, remoteOffset(transfer), 1).subscribe(slot);
            case SIGNAL -> {
                List<SignalUpdate> updates = IntStream.range(0, layout.transfers(1))
                        .mapToObj(this::update)
                        .toList();
                yield (slot, transfer) -> {
                    Mono<Void> mono = reactive.signal(updates.get(transfer));
                    mono.subscribe(slot);
                };
            }
            case NOTIFY, CONNECT -> throw new IllegalArgumentException(operation + " has no ranges");
        };
    }

    private Submission vertx(BenchOperation operation, int iov) {
        TransferConnection vertx = face.requireVertx();
        long size = layout.size();
        return switch (operation) {
            case WRITE ->
                (slot, transfer) -> vertx.write(
                                local, localOffset(transfer), remote, remoteOffset(transfer), size, OPTIONS)
                        .onComplete(slot);
            case READ ->
                (slot, transfer) -> vertx.read(
                                local, localOffset(transfer), remote, remoteOffset(transfer), size, OPTIONS)
                        .onComplete(slot);
            case WRITEV -> {
                List<List<TransferElement>> lists = lists(iov);
                yield (slot, transfer) -> slot.follow(vertx.writeVectored(lists.get(transfer), OPTIONS));
            }
            case READV -> {
                List<List<TransferElement>> lists = lists(iov);
                yield (slot, transfer) -> slot.follow(vertx.readVectored(lists.get(transfer), OPTIONS));
            }
            case FETCH_ADD ->
                (slot, transfer) -> vertx.fetchAdd(remote, remoteOffset(transfer), 1, OPTIONS)
                        .onComplete(slot);
            case SIGNAL -> {
                List<SignalUpdate> updates = IntStream.range(0, layout.transfers(1))
                        .mapToObj(this::update)
                        .toList();
                yield (slot, transfer) ->
                        vertx.signal(updates.get(transfer), OPTIONS).onComplete(slot);
            }
            case NOTIFY, CONNECT -> throw new IllegalArgumentException(operation + " has no ranges");
        };
    }

    /** Weak, so that additions do not wait for each other. */
    private SignalUpdate update(int word) {
        return new RemoteSignal(remote, remoteOffset(word)).weak();
    }

    private List<List<TransferElement>> lists(int iov) {
        return IntStream.range(0, layout.transfers(iov))
                .mapToObj(transfer -> elements(transfer, iov))
                .toList();
    }

    private List<TransferElement> elements(int transfer, int iov) {
        List<TransferElement> elements = new ArrayList<>(iov);
        for (int i = 0; i < iov; i++) {
            // Counted on beyond the last transfer's end, where the ranges begin again.
            int element = (int) (((long) transfer * iov + i) % layout.targets());
            elements.add(
                    new TransferElement(local, localOffset(element), remote, remoteOffset(element), layout.size()));
        }
        return List.copyOf(elements);
    }

    private long localOffset(int element) {
        return localBase + layout.localOffset(element);
    }

    private long remoteOffset(int element) {
        return remoteBase + layout.remoteOffset(element);
    }
}
