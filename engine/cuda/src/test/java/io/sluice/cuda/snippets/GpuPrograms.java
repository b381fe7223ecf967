package io.sluice.cuda.snippets;

import io.sluice.cuda.CudaEvent;
import io.sluice.cuda.GpuKernel;
import io.sluice.cuda.GpuModule;
import io.sluice.cuda.GpuStream;
import io.sluice.cuda.GpuWork;
import io.sluice.cuda.ImportedMemory;
import io.sluice.cuda.KernelArguments;
import io.sluice.cuda.LaunchShape;
import io.sluice.cuda.MappedRegion;
import io.sluice.cuda.StreamWord;
import io.sluice.engine.Connection;
import io.sluice.engine.MemoryKind;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.PageCallback;
import io.sluice.engine.RegionMemory;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.SignalCallback;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.TransferPriority;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;

/** The programs of docs/gpu.md, in its order. */
final class GpuPrograms {
    private GpuPrograms() {}

    static List<MemoryRegion> regions(TransferEngine engine, long pointer, long bytes, AtomicBoolean open) {
        // begin
        String gpu = "GPU-8c7a1d2e-0000-0000-0000-000000000002";
        var options = RegionOptions.readWrite().on(MemoryKind.CUDA, gpu);
        MemoryRegion cache = engine.allocate(1L << 30, options); // zeroed, in granules of 2 MiB
        // of DJL, JCuda, …; the last argument says whether it has not been freed
        MemoryRegion tensor =
                engine.register(RegionMemory.device(MemoryKind.CUDA, gpu, pointer, bytes, open::get), options);
        // end
        return List.of(cache, tensor);
    }

    static MemoryRegion imported(TransferEngine engine, String gpu, byte[] handle, long offset, long bytes) {
        // begin
        ImportedMemory cache = ImportedMemory.ofHandle(gpu, handle, offset, bytes); // 64 bytes, or PyTorch's 66
        MemoryRegion region =
                engine.register(cache.memory(), RegionOptions.readWrite().on(MemoryKind.CUDA, gpu));
        // end
        return region;
    }

    static long ordered(
            Connection connection,
            String gpu,
            long event,
            MemoryRegion local,
            RemoteRegion remote,
            int[] pages,
            int pageBytes,
            PageCallback callback) {
        // begin
        StreamWord word = StreamWord.allocate(gpu); // once
        long value = word.next(); // for each transfer
        // cuStreamWaitValue64(using, word.handle(), value, CU_STREAM_WAIT_VALUE_GEQ), then kernels that use the bytes
        var options = TransferOptions.defaults()
                .startAfter(CudaEvent.of(gpu, event)) // recorded behind the kernel that fills the source
                .completeInto(word);
        connection.writePages(local, pages, remote, pages, pageBytes, options, callback);
        // end
        return value;
    }

    static GpuWork launched(
            Connection connection,
            String gpu,
            byte[] ptx,
            LaunchShape shape,
            RemoteRegion remote,
            long count,
            SignalCallback callback) {
        // begin
        MappedRegion mapped = MappedRegion.of(remote, gpu).join(); // or an own region
        GpuKernel kernel = GpuModule.load(gpu, ptx).kernel("pack");
        GpuStream stream = GpuStream.create(gpu, TransferPriority.HIGH);
        var arguments = KernelArguments.ofLongs(mapped.address(), count);
        GpuWork work =
                stream.work().launch(kernel, shape, arguments).uses(mapped).build();
        stream.onReached(connection.loop(), callback).arm(work.submit());
        // end
        return work;
    }
}
