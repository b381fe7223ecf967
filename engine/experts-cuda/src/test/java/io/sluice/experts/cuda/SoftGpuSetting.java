package io.sluice.experts.cuda;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/** As long as it is open, software GPUs do something else than usual. */
final class SoftGpuSetting implements AutoCloseable {
    private final Runnable reset;

    private SoftGpuSetting(Runnable set, Runnable reset) {
        set.run();
        this.reset = reset;
    }

    private static MethodHandle function(String name, FunctionDescriptor type) {
        SoftGpuCounts.assumeSoftware();
        return Linker.nativeLinker()
                .downcallHandle(
                        SymbolLookup.libraryLookup(System.getProperty("sluice.cuda.library", ""), Arena.global())
                                .findOrThrow(name),
                        type);
    }

    /** None reaches another's memory. */
    static SoftGpuSetting withoutPeers() {
        MethodHandle peers = function("soft_gpu_peers", FunctionDescriptor.ofVoid(ValueLayout.JAVA_INT));
        return new SoftGpuSetting(() -> call(peers, 0), () -> call(peers, 1));
    }

    /** What drivers do once kernels have ended waits for them: loading modules, pinning, freeing. */
    static SoftGpuSetting awaitingKernels() {
        MethodHandle await = function("soft_gpu_await_kernels", FunctionDescriptor.ofVoid(ValueLayout.JAVA_INT));
        return new SoftGpuSetting(() -> call(await, 1), () -> call(await, 0));
    }

    /** Each operation of a stream begins up to so much later. */
    static SoftGpuSetting delays(long nanoseconds) {
        MethodHandle delay = function("soft_gpu_delay", FunctionDescriptor.ofVoid(ValueLayout.JAVA_LONG));
        return new SoftGpuSetting(() -> call(delay, nanoseconds), () -> call(delay, 0L));
    }

    /** No copy is taken. */
    static SoftGpuSetting withoutCopies() {
        MethodHandle copies = function(
                "soft_gpu_refuse_copies", FunctionDescriptor.ofVoid(ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG));
        return new SoftGpuSetting(() -> call(copies, 0L, Long.MAX_VALUE), () -> call(copies, 0L, 0L));
    }

    private static void call(MethodHandle function, Object... arguments) {
        try {
            function.invokeWithArguments(arguments);
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    @Override
    public void close() {
        reset.run();
    }
}
