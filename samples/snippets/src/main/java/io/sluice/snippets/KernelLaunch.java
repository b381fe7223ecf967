package io.sluice.snippets;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.sluice.cuda.CudaTransportProvider;
import io.sluice.cuda.GpuInfo;
import io.sluice.cuda.GpuModule;
import io.sluice.cuda.GpuStream;
import io.sluice.cuda.GpuWork;
import io.sluice.cuda.KernelArguments;
import io.sluice.cuda.LaunchShape;
import io.sluice.cuda.PinnedBuffer;
import io.sluice.engine.Connection;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransferPriority;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * Launches a kernel on a GPU: prepared once, two launches are submitted in one call, again and again, and a connection's loop is
 * called back when they are done. A {@code MappedRegion} would give it the address of a region, a peer's too.
 *
 * <p>Run: {@code ./sluice snippet KernelLaunch}
 */
public final class KernelLaunch {
    private static final int NUMBERS = 1000;
    private static final int ROUNDS = 3;
    private static final String PTX = """
            .version 6.3
            .target sm_75
            .address_size 64
            .visible .entry add_one(.param .u64 numbers, .param .u64 count)
            {
                .reg .pred %p; .reg .b32 %r<4>; .reg .b64 %d<6>;
                ld.param.u64 %d1, [numbers]; ld.param.u64 %d2, [count];
                mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;
                cvt.u64.u32 %d3, %r3; mad.wide.u32 %d3, %r1, %r2, %d3;
                setp.ge.u64 %p, %d3, %d2; @%p ret;
                shl.b64 %d4, %d3, 3; add.u64 %d4, %d1, %d4;
                ld.u64 %d5, [%d4]; add.u64 %d5, %d5, 1; st.u64 [%d4], %d5;
                ret;
            }
            """;

    private KernelLaunch() {}

    public static void main(String[] arguments) {
        List<GpuInfo> gpus = GpuInfo.all();
        if (gpus.isEmpty()) {
            System.out.println("no GPU: " + new CudaTransportProvider().status().unavailable());
            return;
        }
        String gpu = gpus.getFirst().id();
        try (TransferEngine engine = TransferEngine.open();
                PinnedBuffer numbers = PinnedBuffer.allocate(gpu, NUMBERS * 8L);
                GpuModule module = GpuModule.load(gpu, PTX.getBytes(US_ASCII));
                GpuStream stream = GpuStream.create(gpu, TransferPriority.HIGH)) {
            KernelArguments values = KernelArguments.ofLongs(numbers.address(), NUMBERS);
            GpuWork work = stream.work()
                    .launch(module.kernel("add_one"), LaunchShape.of(8, 128), values)
                    .launch(module.kernel("add_one"), LaunchShape.of(8, 128), values)
                    .uses(numbers)
                    .build();
            CompletableFuture<String> done = new CompletableFuture<>();
            Connection connection = engine.connect(engine.address()).join();
            stream.onReached(connection.loop(), (wait, round, error) -> {
                        if (error == null && round < ROUNDS) {
                            wait.arm(work.submit());
                        } else {
                            done.complete(error == null ? round + " rounds" : error.toString());
                        }
                    })
                    .arm(work.submit());
            System.out.println("after " + done.join() + " the last number is "
                    + numbers.segment().getAtIndex(ValueLayout.JAVA_LONG, NUMBERS - 1));
        }
    }
}
