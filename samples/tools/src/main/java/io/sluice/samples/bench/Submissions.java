package io.sluice.samples.bench;

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

/** Makes what starts a connection's transfers, between its ranges in a local and in a remote region. */
record Submissions(
        Initiator.ClientConnection face,
        MemoryRegion local,
        long localBase,
        RemoteRegion remote,
        long remoteBase,
        Layout layout) {
    private static final TransferOptions OPTIONS = TransferOptions.defaults();

    Submission of(BenchOperation operation, Api api, int iov, int slots) {
        return switch (api) {
            case ENGINE -> engine(operation, iov, slots);
            case REACTOR -> reactor(operation, iov);
            case VERTX -> vertx(operation, iov);
        };
    }

    private Submission engine(BenchOperation operation, int iov, int slots) {
        TransferOperations<PreparedTransfer> prepared = face.connection().prepared();
        long size = layout.size();
        PreparedSubmission.Preparation preparation = switch (operation) {
            case WRITE ->
                (which, callback) ->
                        prepared.write(local, localOffset(which), remote, remoteOffset(which), size, OPTIONS, callback);
            case READ ->
                (which, callback) ->
                        prepared.read(local, localOffset(which), remote, remoteOffset(which), size, OPTIONS, callback);
            case WRITEV -> (which, callback) -> prepared.writeVectored(elements(which, iov), OPTIONS, callback);
            case READV -> (which, callback) -> prepared.readVectored(elements(which, iov), OPTIONS, callback);
            case WRITE_PAGES ->
                (which, callback) -> prepared.writePages(
                        local, localPages(which, iov), remote, remotePages(which, iov), size, OPTIONS, callback);
            case READ_PAGES ->
                (which, callback) -> prepared.readPages(
                        local, localPages(which, iov), remote, remotePages(which, iov), size, OPTIONS, callback);
            case FETCH_ADD -> (which, callback) -> prepared.fetchAdd(remote, remoteOffset(which), 1, OPTIONS, callback);
            case SIGNAL -> (which, callback) -> prepared.signal(update(which), OPTIONS, callback);
            case NOTIFY, CONNECT -> throw hasNoRanges(operation);
        };
        int transfers = layout.transfers(iov);
        boolean isSingle = operation == BenchOperation.WRITE || operation == BenchOperation.READ;
        // There may be far more different ones, with verification, than need to be prepared.
        return isSingle && transfers > slots
                ? PreparedSubmission.any(
                        slots,
                        preparation,
                        (transfer, which) -> transfer.retarget(localOffset(which), remoteOffset(which), size))
                : PreparedSubmission.each(slots, transfers, preparation);
    }

    private static IllegalArgumentException hasNoRanges(BenchOperation operation) {
        return new IllegalArgumentException(operation + " has no ranges");
    }

    private Submission reactor(BenchOperation operation, int iov) {
        ReactiveConnection reactive = ReactiveConnection.from(face.connection());
        long size = layout.size();
        List<long[]> here = pages(operation, iov, this::localPages);
        List<long[]> there = pages(operation, iov, this::remotePages);
        List<List<TransferElement>> lists = lists(operation, iov);
        List<SignalUpdate> updates = updates(operation);
        return switch (operation) {
            case WRITE ->
                (slot, which) -> reactive.write(local, localOffset(which), remote, remoteOffset(which), size)
                        .subscribe(slot);
            case READ ->
                (slot, which) -> reactive.read(local, localOffset(which), remote, remoteOffset(which), size)
                        .subscribe(slot);
            case WRITEV ->
                (slot, which) -> reactive.writeVectored(lists.get(which)).subscribe(slot);
            case READV ->
                (slot, which) -> reactive.readVectored(lists.get(which)).subscribe(slot);
            case WRITE_PAGES ->
                (slot, which) -> reactive.writePages(local, here.get(which), remote, there.get(which), size)
                        .subscribe(slot);
            case READ_PAGES ->
                (slot, which) -> reactive.readPages(local, here.get(which), remote, there.get(which), size)
                        .subscribe(slot);
            case FETCH_ADD ->
                (slot, which) ->
                        reactive.fetchAdd(remote, remoteOffset(which), 1).subscribe(slot);
            case SIGNAL ->
                (slot, which) -> {
                    Mono<Void> mono = reactive.signal(updates.get(which));
                    mono.subscribe(slot);
                };
            case NOTIFY, CONNECT -> throw hasNoRanges(operation);
        };
    }

    private Submission vertx(BenchOperation operation, int iov) {
        TransferConnection vertx = face.requireVertx();
        long size = layout.size();
        List<long[]> here = pages(operation, iov, this::localPages);
        List<long[]> there = pages(operation, iov, this::remotePages);
        List<List<TransferElement>> lists = lists(operation, iov);
        List<SignalUpdate> updates = updates(operation);
        return switch (operation) {
            case WRITE ->
                (slot, which) -> vertx.write(local, localOffset(which), remote, remoteOffset(which), size, OPTIONS)
                        .onComplete(slot);
            case READ ->
                (slot, which) -> vertx.read(local, localOffset(which), remote, remoteOffset(which), size, OPTIONS)
                        .onComplete(slot);
            case WRITEV -> (slot, which) -> slot.follow(vertx.writeVectored(lists.get(which), OPTIONS));
            case READV -> (slot, which) -> slot.follow(vertx.readVectored(lists.get(which), OPTIONS));
            case WRITE_PAGES ->
                (slot, which) -> vertx.writePages(local, here.get(which), remote, there.get(which), size, OPTIONS)
                        .onComplete(slot);
            case READ_PAGES ->
                (slot, which) -> vertx.readPages(local, here.get(which), remote, there.get(which), size, OPTIONS)
                        .onComplete(slot);
            case FETCH_ADD ->
                (slot, which) ->
                        vertx.fetchAdd(remote, remoteOffset(which), 1, OPTIONS).onComplete(slot);
            case SIGNAL ->
                (slot, which) -> vertx.signal(updates.get(which), OPTIONS).onComplete(slot);
            case NOTIFY, CONNECT -> throw hasNoRanges(operation);
        };
    }

    /** Made before the first transfer, as one costs no object here. */
    private List<SignalUpdate> updates(BenchOperation operation) {
        int count = operation == BenchOperation.SIGNAL ? layout.transfers(1) : 0;
        return IntStream.range(0, count).mapToObj(this::update).toList();
    }

    /** Weak, so that additions do not wait for each other. */
    private SignalUpdate update(int word) {
        return new RemoteSignal(remote, remoteOffset(word)).weak();
    }

    private List<List<TransferElement>> lists(BenchOperation operation, int iov) {
        int count = operation.isVectored() && !operation.isPages() ? layout.transfers(iov) : 0;
        return IntStream.range(0, count).mapToObj(which -> elements(which, iov)).toList();
    }

    private List<long[]> pages(BenchOperation operation, int iov, PageList list) {
        int count = operation.isPages() ? layout.transfers(iov) : 0;
        return IntStream.range(0, count)
                .mapToObj(which -> list.offsets(which, iov))
                .toList();
    }

    /** The offsets of a transfer's pages. */
    private interface PageList {
        long[] offsets(int transfer, int iov);
    }

    private long[] localPages(int transfer, int iov) {
        return IntStream.range(0, iov)
                .mapToLong(i -> localOffset(element(transfer, iov, i)))
                .toArray();
    }

    private long[] remotePages(int transfer, int iov) {
        return IntStream.range(0, iov)
                .mapToLong(i -> remoteOffset(element(transfer, iov, i)))
                .toArray();
    }

    /** Counted on beyond the last transfer's end, where the ranges begin again. */
    private int element(int transfer, int iov, int index) {
        return (int) (((long) transfer * iov + index) % layout.targets());
    }

    private List<TransferElement> elements(int transfer, int iov) {
        List<TransferElement> elements = new ArrayList<>(iov);
        for (int i = 0; i < iov; i++) {
            int element = element(transfer, iov, i);
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
