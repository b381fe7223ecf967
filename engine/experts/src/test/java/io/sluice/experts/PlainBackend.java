package io.sluice.experts;

import io.sluice.engine.MemoryRegion;
import io.sluice.engine.SluiceException;
import io.sluice.experts.backend.CommBackend;
import io.sluice.experts.backend.CommCallback;
import io.sluice.experts.backend.CommMemory;
import io.sluice.experts.backend.CommWait;
import io.sluice.experts.backend.PreparedPut;
import io.sluice.experts.backend.PutBatch;
import io.sluice.experts.backend.SymmetricMemory;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The least that a back end may offer: no memory of other ranks is mapped, and puts come from symmetric memory alone.
 */
final class PlainBackend implements CommBackend {
    private final CommBackend wrapped;

    PlainBackend(CommBackend wrapped) {
        this.wrapped = wrapped;
    }

    private record Memory(SymmetricMemory wrapped) implements SymmetricMemory {
        @Override
        public long bytes() {
            return wrapped.bytes();
        }

        @Override
        public MemorySegment segment() {
            return wrapped.segment();
        }

        @Override
        public @Nullable MemorySegment mapped(int rank) {
            return null;
        }
    }

    private static SymmetricMemory wrapped(CommMemory memory) {
        return ((Memory) memory).wrapped;
    }

    @Override
    public String type() {
        return PlainBackendProvider.NAME;
    }

    @Override
    public int rank() {
        return wrapped.rank();
    }

    @Override
    public int ranks() {
        return wrapped.ranks();
    }

    @Override
    public CompletableFuture<Void> barrier() {
        return wrapped.barrier();
    }

    @Override
    public CompletableFuture<SymmetricMemory> allocate(long bytes) {
        return wrapped.allocate(bytes).thenApply(Memory::new);
    }

    @Override
    public CompletableFuture<Void> free(SymmetricMemory memory) {
        return wrapped.free(wrapped(memory));
    }

    @Override
    public @Nullable CommMemory source(MemoryRegion region) {
        return null;
    }

    @Override
    public void put(
            CommMemory source,
            long sourceOffset,
            SymmetricMemory target,
            long targetOffset,
            long bytes,
            int rank,
            CommCallback callback) {
        wrapped.put(wrapped(source), sourceOffset, wrapped(target), targetOffset, bytes, rank, callback);
    }

    @Override
    public void putWithSignal(
            CommMemory source,
            long sourceOffset,
            SymmetricMemory target,
            long targetOffset,
            long bytes,
            long signalOffset,
            long addend,
            int rank,
            CommCallback callback) {
        wrapped.putWithSignal(
                wrapped(source),
                sourceOffset,
                wrapped(target),
                targetOffset,
                bytes,
                signalOffset,
                addend,
                rank,
                callback);
    }

    @Override
    public void signal(SymmetricMemory target, long offset, long addend, int rank, CommCallback callback) {
        wrapped.signal(wrapped(target), offset, addend, rank, callback);
    }

    @Override
    public PutBatch prepareBatch(CommMemory source, SymmetricMemory target, long pieceBytes, int rank) {
        return wrapped.prepareBatch(wrapped(source), wrapped(target), pieceBytes, rank);
    }

    @Override
    public PreparedPut preparePut(
            CommMemory source,
            long sourceOffset,
            SymmetricMemory target,
            long targetOffset,
            long bytes,
            long signalOffset,
            int rank) {
        return wrapped.preparePut(
                wrapped(source), sourceOffset, wrapped(target), targetOffset, bytes, signalOffset, rank);
    }

    @Override
    public CommWait await(SymmetricMemory memory, long offset, CommCallback callback) {
        return wrapped.await(wrapped(memory), offset, callback);
    }

    @Override
    public void whenLost(IntConsumer listener) {
        wrapped.whenLost(listener);
    }

    @Override
    public void whenFailed(Consumer<SluiceException> listener) {
        wrapped.whenFailed(listener);
    }

    @Override
    public void flush(CommCallback callback) {
        wrapped.flush(callback);
    }

    @Override
    public void quiet(CommCallback callback) {
        wrapped.quiet(callback);
    }

    @Override
    public CompletableFuture<Void> closeAsync() {
        return wrapped.closeAsync();
    }
}
