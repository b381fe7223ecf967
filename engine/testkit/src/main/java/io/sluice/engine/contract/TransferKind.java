package io.sluice.engine.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.RemoteSignal;
import io.sluice.engine.SluiceException;
import io.sluice.engine.Transfer;
import io.sluice.engine.TransferCallback;
import io.sluice.engine.TransferElement;
import io.sluice.engine.TransferOperations;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.VectoredTransferCallback;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Every kind of transfer, each over the same few bytes of a local and a remote region, for what holds of all of them. */
enum TransferKind {
    WRITE,
    READ,
    WRITE_WITH_SIGNAL,
    PUT,
    SIGNAL,
    FETCH_ADD,
    COMPARE_AND_SWAP,
    WRITE_VECTORED,
    READ_VECTORED,
    WRITE_PAGES,
    READ_PAGES;

    /** How long both regions are. */
    static final int BYTES = 64;

    /** The filling of the local region; the remote one is zeroed. */
    static final byte LOCAL = 1;

    private static final int HALF = 24;
    private static final long COUNTER = 56;
    private static final int PAGE = 16;
    private static final int[] PAGES = {0, 1, 2};
    private static final int[] PAGES_CROSSED = {2, 1, 0};

    boolean reads() {
        return this == READ || this == READ_VECTORED || this == READ_PAGES;
    }

    /** Submits or prepares it. */
    <T extends Transfer> T on(
            TransferOperations<T> operations,
            MemoryRegion local,
            RemoteRegion remote,
            TransferOptions options,
            TransferCallback callback) {
        return switch (this) {
            case WRITE -> operations.write(local, 0, remote, 0, 2 * HALF, options, callback);
            case READ -> operations.read(local, 0, remote, 0, 2 * HALF, options, callback);
            case WRITE_WITH_SIGNAL ->
                operations.writeWithSignal(
                        local, 0, remote, 0, 2 * HALF, new RemoteSignal(remote, COUNTER).weak(), options, callback);
            case PUT -> operations.put(remote, 0, 7, 1, options, callback);
            case SIGNAL -> operations.signal(new RemoteSignal(remote, COUNTER).weak(), options, callback);
            case FETCH_ADD ->
                operations.fetchAdd(
                        remote, 0, 1, options, (transfer, previous, error) -> callback.terminated(transfer, error));
            case COMPARE_AND_SWAP ->
                operations.compareAndSwap(
                        remote, 0, 0, 1, options, (transfer, previous, error) -> callback.terminated(transfer, error));
            case WRITE_VECTORED -> operations.writeVectored(halves(local, remote), options, new EndOnly(callback));
            case READ_VECTORED -> operations.readVectored(halves(local, remote), options, new EndOnly(callback));
            case WRITE_PAGES ->
                operations.writePages(
                        local,
                        PAGES,
                        remote,
                        PAGES_CROSSED,
                        PAGE,
                        options,
                        (transfer, failed, error) -> callback.terminated(transfer, error));
            case READ_PAGES ->
                operations.readPages(
                        local,
                        PAGES,
                        remote,
                        PAGES_CROSSED,
                        PAGE,
                        options,
                        (transfer, failed, error) -> callback.terminated(transfer, error));
        };
    }

    private static List<TransferElement> halves(MemoryRegion local, RemoteRegion remote) {
        return List.of(
                new TransferElement(local, 0, remote, 0, HALF), new TransferElement(local, HALF, remote, HALF, HALF));
    }

    /** Passes the terminal signal on alone. */
    private record EndOnly(TransferCallback callback) implements VectoredTransferCallback {
        @Override
        public void element(int index, @Nullable SluiceException error) {}

        @Override
        public void terminated(Transfer transfer, @Nullable SluiceException error) {
            callback.terminated(transfer, error);
        }
    }

    /** Checks that the transfer has not touched any memory yet. */
    void assertNothingHappened(ContractBytes local, ContractBytes served) {
        BytePattern.assertAll(served, (byte) 0, "the target of a " + this + " that was not posted");
        BytePattern.assertAll(local, LOCAL, "the local region of a " + this + " that was not posted");
    }

    /** Checks what one run does. */
    void assertHappened(ContractBytes local, ContractBytes served) {
        switch (this) {
            case READ, READ_VECTORED, READ_PAGES ->
                BytePattern.assertAll(local.slice(0, 2 * HALF), (byte) 0, "the target of a " + this);
            case WRITE, WRITE_VECTORED, WRITE_PAGES, WRITE_WITH_SIGNAL ->
                BytePattern.assertAll(served.slice(0, 2 * HALF), LOCAL, "the target of a " + this);
            case PUT -> assertThat(served.byteAt(0)).isEqualTo((byte) 7);
            case SIGNAL -> {}
            case FETCH_ADD, COMPARE_AND_SWAP -> assertThat(served.longAt(0)).isEqualTo(1);
        }
        if (this == SIGNAL || this == WRITE_WITH_SIGNAL) {
            assertThat(served.longAt(COUNTER)).isEqualTo(1);
        }
    }

    /** Restores the contents of both regions. */
    static void reset(ContractBytes local, ContractBytes served) {
        local.fill(LOCAL);
        served.fill((byte) 0);
    }
}
