package io.sluice.cuda;

import io.sluice.engine.EngineOptions;
import io.sluice.testkit.PatientOptions;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.Map;

/** Two hosts in one process, each with RDMA adapters in software and all GPUs. */
final class SoftRdma {
    private static final Path FILE =
            SoftGpu.file().resolveSibling("libsoftadapter.so").toAbsolutePath();

    static {
        SoftGpu.load();
        System.setProperty("sluice.verbs.library", FILE.toString());
        // the contract catches transfers under way
        call("soft_adapter_delay", FunctionDescriptor.ofVoid(ValueLayout.JAVA_LONG), 20_000L);
    }

    private SoftRdma() {}

    /** Before any engine opens. */
    static void load() {
        // by the initialiser
    }

    /** The settings of the engine on a host, 0 or 1. */
    static Map<String, String> environment(int host) {
        return Map.of(
                "SLUICE_TRANSPORTS",
                "verbs," + DistantCudaTransportProvider.NAME,
                "SLUICE_VERBS_DEVICES",
                "soft" + host);
    }

    static EngineOptions.Builder options(int host) {
        return PatientOptions.builder().environment(environment(host));
    }

    /** No adapter takes memory of a GPU. */
    static void refuseDmaBuffers(boolean on) {
        call("soft_adapter_refuse_dma_buffers", FunctionDescriptor.ofVoid(ValueLayout.JAVA_INT), on ? 1 : 0);
    }

    /** See the adapter's header for the names. */
    static long counter(String name) {
        try (Arena arena = Arena.ofConfined()) {
            return (long) call(
                    "soft_adapter_counter",
                    FunctionDescriptor.of(ValueLayout.JAVA_LONG, ValueLayout.ADDRESS),
                    arena.allocateFrom(name));
        }
    }

    /** How many bytes the requests of a device have moved. */
    static long bytes(int device) {
        return (long)
                call("soft_adapter_bytes", FunctionDescriptor.of(ValueLayout.JAVA_LONG, ValueLayout.JAVA_INT), device);
    }

    private static Object call(String name, FunctionDescriptor type, Object argument) {
        try {
            return Linker.nativeLinker()
                    .downcallHandle(
                            SymbolLookup.libraryLookup(FILE, Arena.global()).findOrThrow(name), type)
                    .invokeWithArguments(argument);
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }
}
