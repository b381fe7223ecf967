package io.sluice.engine.session;

import io.sluice.engine.Access;
import io.sluice.engine.Connection;
import io.sluice.engine.FetchCallback;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.PageCallback;
import io.sluice.engine.PreparedTransfer;
import io.sluice.engine.RemoteAccessException;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.RemoteSignal;
import io.sluice.engine.SignalUpdate;
import io.sluice.engine.Transfer;
import io.sluice.engine.TransferCallback;
import io.sluice.engine.TransferElement;
import io.sluice.engine.TransferOperations;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.VectoredTransferCallback;
import io.sluice.engine.flow.ElementPlan;
import io.sluice.engine.flow.SignalPlan;
import io.sluice.engine.flow.TransferFactory;
import io.sluice.engine.memory.AttachedRegion;
import io.sluice.engine.memory.LocalRegion;
import io.sluice.engine.memory.RegionOwner;
import io.sluice.engine.transport.PageTable;
import io.sluice.engine.transport.PageTablePool;
import io.sluice.engine.transport.WorkRequest.Opcode;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Checks the arguments of an operation before anything is submitted: ranges, rights, and the owners of the regions. The
 * subclass submits the transfer. Any thread.
 *
 * @param <T> what the caller gets
 */
abstract class CheckedOperations<T extends Transfer> implements TransferOperations<T> {
    private final RegionOwner owner;
    private final @Nullable PageTablePool pageTables;

    /**
     * For a connection of an engine.
     *
     * @param owner of the engine's regions
     * @param pageTables of transfers that run once; {@code null} if these may run again
     */
    CheckedOperations(RegionOwner owner, @Nullable PageTablePool pageTables) {
        this.owner = owner;
        this.pageTables = pageTables;
    }

    /** Takes a transfer that was checked and is not started. */
    abstract T checked(PreparedTransfer transfer);

    /** A read or write of one element. */
    abstract PreparedTransfer single(
            Opcode operation,
            ElementPlan plan,
            MemoryRegion local,
            RemoteRegion remote,
            TransferOptions options,
            TransferCallback callback);

    /** The factory of the connection's transfers. */
    abstract TransferFactory transfers();

    /** The connection by which a remote region must have been attached. */
    abstract Connection attachedBy();

    /** Whether the connection is one of the engine that has these regions. */
    boolean isOf(RegionOwner regions) {
        return owner.equals(regions);
    }

    @Override
    public T write(
            MemoryRegion local,
            long localOffset,
            RemoteRegion remote,
            long remoteOffset,
            long length,
            TransferOptions options,
            TransferCallback callback) {
        return transfer(Opcode.WRITE, local, localOffset, remote, remoteOffset, length, options, callback);
    }

    @Override
    public T read(
            MemoryRegion local,
            long localOffset,
            RemoteRegion remote,
            long remoteOffset,
            long length,
            TransferOptions options,
            TransferCallback callback) {
        return transfer(Opcode.READ, local, localOffset, remote, remoteOffset, length, options, callback);
    }

    private T transfer(
            Opcode operation,
            MemoryRegion local,
            long localOffset,
            RemoteRegion remote,
            long remoteOffset,
            long length,
            TransferOptions options,
            TransferCallback callback) {
        given(options, callback);
        ElementPlan plan = plan(operation, local, localOffset, remote, remoteOffset, length);
        return checked(single(operation, plan, local, remote, options, callback));
    }

    @Override
    public T writeWithSignal(
            MemoryRegion local,
            long localOffset,
            RemoteRegion remote,
            long remoteOffset,
            long length,
            SignalUpdate signal,
            TransferOptions options,
            TransferCallback callback) {
        given(options, callback);
        ElementPlan plan = plan(Opcode.WRITE, local, localOffset, remote, remoteOffset, length);
        return checked(transfers().signalling(plan, plan(signal), options, callback));
    }

    @Override
    public T put(
            RemoteRegion remote,
            long remoteOffset,
            long value,
            int bytes,
            TransferOptions options,
            TransferCallback callback) {
        given(options, callback);
        if (bytes < 1 || bytes > Long.BYTES) {
            throw new IllegalArgumentException("a put has 1 to 8 bytes, not " + bytes);
        }
        AttachedRegion attached = check(Opcode.PUT, remote, remoteOffset, bytes);
        return checked(transfers()
                .word(
                        Opcode.PUT,
                        attached.wordKey(),
                        remoteOffset,
                        bytes,
                        value,
                        0,
                        options,
                        (transfer, previous, error) -> callback.terminated(transfer, error)));
    }

    @Override
    public T signal(SignalUpdate signal, TransferOptions options, TransferCallback callback) {
        given(options, callback);
        return checked(transfers().signalling(null, plan(signal), options, callback));
    }

    @Override
    public T fetchAdd(
            RemoteRegion remote, long remoteOffset, long addend, TransferOptions options, FetchCallback callback) {
        return atomic(Opcode.FETCH_ADD, remote, remoteOffset, addend, 0, options, callback);
    }

    @Override
    public T compareAndSwap(
            RemoteRegion remote,
            long remoteOffset,
            long expected,
            long replacement,
            TransferOptions options,
            FetchCallback callback) {
        return atomic(Opcode.COMPARE_AND_SWAP, remote, remoteOffset, replacement, expected, options, callback);
    }

    private T atomic(
            Opcode operation,
            RemoteRegion remote,
            long remoteOffset,
            long operand,
            long expected,
            TransferOptions options,
            FetchCallback callback) {
        given(options, callback);
        AttachedRegion attached = check(operation, remote, remoteOffset, Long.BYTES);
        return checked(transfers()
                .word(operation, attached.wordKey(), remoteOffset, Long.BYTES, operand, expected, options, callback));
    }

    @Override
    public T writeVectored(List<TransferElement> elements, TransferOptions options, VectoredTransferCallback callback) {
        return vectored(Opcode.WRITE, elements, options, callback);
    }

    @Override
    public T readVectored(List<TransferElement> elements, TransferOptions options, VectoredTransferCallback callback) {
        return vectored(Opcode.READ, elements, options, callback);
    }

    private T vectored(
            Opcode operation,
            List<TransferElement> elements,
            TransferOptions options,
            VectoredTransferCallback callback) {
        given(options, callback);
        if (elements.isEmpty()) {
            throw new IllegalArgumentException("a vectored transfer has at least one element");
        }
        ElementPlan[] plan = new ElementPlan[elements.size()];
        int at = 0;
        TransferElement previous = null;
        for (TransferElement element : elements) {
            plan[at] = previous != null && isOfSameRegions(previous, element)
                    ? next(plan[at - 1], element)
                    : plan(
                            operation,
                            element.local(),
                            element.localOffset(),
                            element.remote(),
                            element.remoteOffset(),
                            element.length());
            previous = element;
            at++;
        }
        return checked(transfers().vectored(operation, plan, options, callback));
    }

    @Override
    public T writePages(
            MemoryRegion local,
            int[] localPages,
            RemoteRegion remote,
            int[] remotePages,
            long pageBytes,
            TransferOptions options,
            PageCallback callback) {
        given(options, callback);
        PageTable table = table(Opcode.WRITE, local, remote, pageBytes);
        table.fill(localPages, remotePages);
        return pages(Opcode.WRITE, local, remote, table, options, callback);
    }

    @Override
    public T writePages(
            MemoryRegion local,
            long[] localOffsets,
            RemoteRegion remote,
            long[] remoteOffsets,
            long pageBytes,
            TransferOptions options,
            PageCallback callback) {
        given(options, callback);
        PageTable table = table(Opcode.WRITE, local, remote, pageBytes);
        table.fill(localOffsets, remoteOffsets);
        return pages(Opcode.WRITE, local, remote, table, options, callback);
    }

    @Override
    public T readPages(
            MemoryRegion local,
            int[] localPages,
            RemoteRegion remote,
            int[] remotePages,
            long pageBytes,
            TransferOptions options,
            PageCallback callback) {
        given(options, callback);
        PageTable table = table(Opcode.READ, local, remote, pageBytes);
        table.fill(localPages, remotePages);
        return pages(Opcode.READ, local, remote, table, options, callback);
    }

    @Override
    public T readPages(
            MemoryRegion local,
            long[] localOffsets,
            RemoteRegion remote,
            long[] remoteOffsets,
            long pageBytes,
            TransferOptions options,
            PageCallback callback) {
        given(options, callback);
        PageTable table = table(Opcode.READ, local, remote, pageBytes);
        table.fill(localOffsets, remoteOffsets);
        return pages(Opcode.READ, local, remote, table, options, callback);
    }

    private PageTable table(Opcode operation, MemoryRegion local, RemoteRegion remote, long pageBytes) {
        check(operation, local, 0, 0);
        check(operation, remote, 0, 0);
        return new PageTable(pageBytes, local.offset(), local.length(), remote.length(), pageTables);
    }

    private T pages(
            Opcode operation,
            MemoryRegion local,
            RemoteRegion remote,
            PageTable table,
            TransferOptions options,
            PageCallback callback) {
        LocalRegion region = LocalRegion.of(local);
        return checked(transfers().pages(operation, region, mine(remote).key(region), table, options, callback));
    }

    // ---- checks ----

    private static void given(TransferOptions options, @Nullable Object callback) {
        Objects.requireNonNull(options, "options");
        Objects.requireNonNull(callback, "callback");
    }

    private ElementPlan plan(
            Opcode operation,
            MemoryRegion local,
            long localOffset,
            RemoteRegion remote,
            long remoteOffset,
            long length) {
        LocalRegion region = check(operation, local, localOffset, length);
        AttachedRegion attached = check(operation, remote, remoteOffset, length);
        return new ElementPlan(region, local.offset() + localOffset, attached.key(region), remoteOffset, length);
    }

    @SuppressWarnings("ReferenceEquality") // a slice is another region, with other bounds
    private static boolean isOfSameRegions(TransferElement one, TransferElement other) {
        return one.local() == other.local() && one.remote() == other.remote();
    }

    /** The plan of an element in the regions of the one before it, which have been checked. */
    private static ElementPlan next(ElementPlan before, TransferElement element) {
        MemoryRegion local = element.local();
        Objects.checkFromIndexSize(element.localOffset(), element.length(), local.length());
        Objects.checkFromIndexSize(
                element.remoteOffset(), element.length(), element.remote().length());
        return new ElementPlan(
                before.local(),
                local.offset() + element.localOffset(),
                before.remote(),
                element.remoteOffset(),
                element.length());
    }

    private SignalPlan plan(SignalUpdate update) {
        RemoteSignal signal = update.signal();
        AttachedRegion attached = check(Opcode.SIGNAL, signal.region(), signal.offset(), RemoteSignal.BYTES);
        return new SignalPlan(attached.wordKey(), signal.offset(), update.addend(), update.order());
    }

    @SuppressWarnings("ReferenceEquality") // engines are compared by identity
    private LocalRegion check(Opcode operation, MemoryRegion local, long offset, long length) {
        Objects.checkFromIndexSize(offset, length, local.length());
        LocalRegion region = LocalRegion.of(local);
        if (region.owner() != owner) {
            throw new IllegalArgumentException("the local region belongs to another engine than the connection");
        }
        if (operation == Opcode.READ
                && region.memory().isHost()
                && region.memory().segment().isReadOnly()) {
            throw new IllegalArgumentException("a read-only segment cannot be the target of a read");
        }
        return region;
    }

    private AttachedRegion check(Opcode operation, RemoteRegion remote, long offset, long length) {
        AttachedRegion attached = mine(remote);
        Objects.checkFromIndexSize(offset, length, attached.length());
        if (operation.changesRemote()) {
            need(attached, Access.REMOTE_WRITE);
        }
        if (operation.bringsBack()) {
            need(attached, Access.REMOTE_READ);
        }
        if (operation.isAtomic() && (attached.descriptor().offset() + offset) % Long.BYTES != 0) {
            throw new IllegalArgumentException(
                    "the word of an atomic operation or signal is aligned to 8 bytes from its"
                            + " region's start; its offset is "
                            + (attached.descriptor().offset() + offset));
        }
        return attached;
    }

    private static void need(AttachedRegion attached, Access right) {
        if (!attached.access().contains(right)) {
            throw new RemoteAccessException(
                    RemoteAccessException.Reason.ACCESS_DENIED,
                    "the descriptor gives " + attached.access() + ", not " + right);
        }
    }

    @SuppressWarnings("ReferenceEquality") // connections are compared by identity
    AttachedRegion mine(RemoteRegion remote) {
        Objects.requireNonNull(remote, "remote");
        if (!(remote instanceof AttachedRegion attached) || attached.connection() != attachedBy()) {
            throw new IllegalArgumentException("the remote region was attached on another connection");
        }
        return attached;
    }
}
