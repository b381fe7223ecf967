package io.sluice.experts.cuda;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/** As long as it is open, the streams of software GPUs do nothing. */
final class SoftGpuHang implements AutoCloseable {
    private final MethodHandle hang;

    SoftGpuHang() {
        SoftGpuCounts.assumeSoftware();
        hang = Linker.nativeLinker()
                .downcallHandle(
                        SymbolLookup.libraryLookup(System.getProperty("sluice.cuda.library", ""), Arena.global())
                                .findOrThrow("soft_gpu_hang"),
                        FunctionDescriptor.ofVoid(ValueLayout.JAVA_INT));
        set(1);
    }

    private void set(int value) {
        try {
            hang.invokeExact(value);
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    @Override
    public void close() {
        set(0);
    }
}
