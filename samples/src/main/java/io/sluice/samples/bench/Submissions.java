package io.sluice.samples.bench;

import io.sluice.engine.Connection;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.TransferElement;
import io.sluice.engine.TransferOptions;
import io.sluice.reactor.ReactiveConnection;
import java.util.ArrayList;
import java.util.List;

/** Makes what starts a connection's transfers. */
final class Submissions {

    private static final TransferOptions OPTIONS = TransferOptions.defaults();

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
            Connection connection,
            MemoryRegion local,
            long localBase,
            RemoteRegion remote,
            long remoteBase,
            Layout layout) {
        this.connection = connection;
        this.local = local;
        this.localBase = localBase;
        this.remote = remote;
        this.remoteBase = remoteBase;
        this.layout = layout;
    }

    /** For reads and writes. */
    Submission of(Operation operation, Api api, int iov) {
        List<List<TransferElement>> lists = operation.isVectored() ? lists(iov) : List.of();
        return api == Api.ENGINE ? engine(operation, lists) : reactor(operation, lists);
    }

    private Submission engine(Operation operation, List<List<TransferElement>> lists) {
        long size = layout.size();
        return switch (operation) {
            case WRITE ->
                (slot, transfer) -> connection.write(
                        local, localOffset(transfer), remote, remoteOffset(transfer), size, OPTIONS, slot);
            case READ ->
                (slot, transfer) -> connection.read(
                        local, localOffset(transfer), remote, remoteOffset(transfer), size, OPTIONS, slot);
            case WRITEV -> (slot, transfer) -> connection.writeVectored(lists.get(transfer), OPTIONS, slot);
            case READV -> (slot, transfer) -> connection.readVectored(lists.get(transfer), OPTIONS, slot);
            case NOTIFY -> throw new IllegalArgumentException("a notification has no ranges");
        };
    }

    private Submission reactor(Operation operation, List<List<TransferElement>> lists) {
        ReactiveConnection reactive = ReactiveConnection.from(connection);
        long size = layout.size();
        return switch (operation) {
            case WRITE ->
                (slot, transfer) -> reactive.write(local, localOffset(transfer), remote, remoteOffset(transfer), size)
                        .subscribe(slot);
            case READ ->
                (slot, transfer) -> reactive.read(local, localOffset(transfer), remote, remoteOffset(transfer), size)
                        .subscribe(slot);
            case WRITEV ->
                (slot, transfer) -> reactive.writeVectored(lists.get(transfer)).subscribe(slot);
            case READV ->
                (slot, transfer) -> reactive.readVectored(lists.get(transfer)).subscribe(slot);
            case NOTIFY -> throw new IllegalArgumentException("a notification has no ranges");
        };
    }

    private long localOffset(int element) {
        return localBase + layout.localOffset(element);
    }

    private long remoteOffset(int element) {
        return remoteBase + layout.remoteOffset(element);
    }

    private List<List<TransferElement>> lists(int iov) {
        List<List<TransferElement>> lists = new ArrayList<>();
        for (int transfer = 0; transfer < layout.transfers(iov); transfer++) {
            List<TransferElement> elements = new ArrayList<>(iov);
            for (int i = 0; i < iov; i++) {
                int element = (transfer * iov + i) % layout.targets();
                elements.add(
                        new TransferElement(local, localOffset(element), remote, remoteOffset(element), layout.size()));
            }
            lists.add(List.copyOf(elements));
        }
        return lists;
    }
}
