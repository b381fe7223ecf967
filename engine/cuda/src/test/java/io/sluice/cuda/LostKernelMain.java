package io.sluice.cuda;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.sluice.engine.EngineLoop;
import io.sluice.engine.SignalWait;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransferPriority;
import io.sluice.jni.CudaKernels;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;

/** A process whose kernel touches what it may not, which stays with the process. It says what holds then. */
final class LostKernelMain {
    private LostKernelMain() {}

    @SuppressWarnings("SystemOut")
    public static void main(String[] arguments) {
        SoftGpu.load();
        String gpu = SoftGpu.id(0);
        TransferEngine engine = TransferEngine.open(
                PatientOptions.builder().transports(List.of("tcp")).build());
        EngineLoop loop = Patience.await(engine.connect(engine.address())).loop();
        GpuModule module = GpuModule.load(gpu, CudaKernels.ptx().getBytes(US_ASCII));
        GpuStream stream = GpuStream.create(gpu, TransferPriority.NORMAL);
        PinnedBuffer buffer = PinnedBuffer.allocate(gpu, 4096);
        BlockingQueue<Object> ends = new LinkedBlockingQueue<>();
        SignalWait wait =
                stream.onReached(loop, (of, value, error) -> ends.add(error == null ? (Object) value : error));
        KernelArguments filled = KernelArguments.ofLongs(buffer.address(), 4096, 1);
        GpuWork work = stream.work()
                .launch(module.kernel("sluice_fill_pattern"), LaunchShape.of(1, 32), filled)
                .uses(buffer)
                .build();
        wait.arm(work.submit());
        SluiceException launch = null;
        if (Patience.take("the first", ends) instanceof Long) {
            filled.set(0, 8L);
            try {
                work.submit();
            } catch (CudaException e) {
                // the kernel has failed before the stream was given the word behind it
                launch = e;
            }
            wait.arm(stream.submitted());
            Object end = Patience.take("the error", ends);
            System.out.println(end instanceof CudaException e && e.error() == 700 ? "wait typed" : "wait: " + end);
            try {
                work.submit();
            } catch (CudaException e) {
                launch = e;
            }
        }
        System.out.println(launch != null ? "launch typed" : "launched");
        module.close();
        stream.close();
        buffer.close();
        Patience.await(CompletableFuture.allOf(module.released(), stream.released(), buffer.released()));
        Patience.await(engine.closeAsync());
        System.out.println("closed");
    }
}
