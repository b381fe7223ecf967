package io.sluice.samples.bench;

import io.sluice.engine.Connection;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferCallback;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransferOptions;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Copies between memory of the host and of GPUs, by transfers of an engine to itself. */
final class GpuCopies implements AutoCloseable {
    private final TransferEngine engine;
    private final RankControl control;
    private final Connection own;
    private final List<MemoryRegion> allocated = new ArrayList<>();

    GpuCopies(TransferEngine engine, RankControl control) {
        this.engine = engine;
        this.control = control;
        own = control.await(engine.connect(engine.address()));
    }

    /** Memory of a GPU, and as much of the host. */
    final class Copy {
        private final MemoryRegion host;
        private final RemoteRegion gpu;

        private Copy(MemoryRegion host, MemoryRegion gpu) {
            this.host = host;
            this.gpu = attach(gpu);
        }

        /** Brings the host's bytes to the GPU. */
        void put() {
            GpuCopies.this.put(host, 0, gpu, 0, gpu.length());
        }

        /** Brings the GPU's bytes here. */
        MemorySegment get() {
            GpuCopies.this.get(host, 0, gpu, 0, gpu.length());
            return host.segment();
        }
    }

    /** Memory of the host is the caller's, and at least as long. */
    Copy copy(MemoryRegion host, MemoryRegion gpu) {
        return new Copy(host, gpu);
    }

    /** Memory of the host is allocated. */
    Copy copy(MemoryRegion gpu) {
        MemoryRegion host = engine.allocate(gpu.length(), RegionOptions.local());
        allocated.add(host);
        return new Copy(host, gpu);
    }

    RemoteRegion attach(MemoryRegion gpu) {
        return control.await(own.attach(gpu.descriptor()));
    }

    /** Copies bytes of the host to a GPU. */
    void put(MemoryRegion host, long hostOffset, RemoteRegion gpu, long offset, long bytes) {
        transfer(bytes, ended -> own.write(host, hostOffset, gpu, offset, bytes, TransferOptions.defaults(), ended));
    }

    /** Copies bytes of a GPU to the host. */
    void get(MemoryRegion host, long hostOffset, RemoteRegion gpu, long offset, long bytes) {
        transfer(bytes, ended -> own.read(host, hostOffset, gpu, offset, bytes, TransferOptions.defaults(), ended));
    }

    private void transfer(long bytes, Consumer<TransferCallback> start) {
        if (bytes == 0) {
            return;
        }
        CompletableFuture<@Nullable Void> end = new CompletableFuture<>();
        start.accept((transfer, error) -> end(end, error));
        control.await(end);
    }

    static void end(CompletableFuture<@Nullable Void> end, @Nullable SluiceException error) {
        if (error == null) {
            end.complete(null);
        } else {
            end.completeExceptionally(error);
        }
    }

    @Override
    public void close() {
        own.close();
        allocated.forEach(region -> Waiting.await(region.close(), "giving memory back"));
    }
}
