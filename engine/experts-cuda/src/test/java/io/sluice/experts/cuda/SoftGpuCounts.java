package io.sluice.experts.cuda;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Assumptions;

/** How many objects the software GPUs have. */
final class SoftGpuCounts {
    private static final String LIBRARY = System.getProperty("sluice.cuda.library", "");
    private static final List<String> OBJECTS =
            List.of("allocations", "mappings", "streams", "modules", "registrations");

    private SoftGpuCounts() {}

    static void assumeSoftware() {
        Assumptions.assumeTrue(LIBRARY.endsWith("libsoftgpu.so"), "real GPUs count no objects");
    }

    static List<Long> all() {
        MethodHandle count = Linker.nativeLinker()
                .downcallHandle(
                        SymbolLookup.libraryLookup(LIBRARY, Arena.global()).findOrThrow("soft_gpu_count"),
                        FunctionDescriptor.of(ValueLayout.JAVA_LONG, ValueLayout.ADDRESS));
        return OBJECTS.stream().map(name -> of(count, name)).toList();
    }

    /** Whether there are no more of any kind than were counted. */
    static boolean areAtMost(List<Long> counted) {
        List<Long> now = all();
        return IntStream.range(0, now.size()).allMatch(i -> now.get(i) <= counted.get(i));
    }

    private static long of(MethodHandle count, String name) {
        try (Arena arena = Arena.ofConfined()) {
            return (long) count.invokeExact(arena.allocateFrom(name));
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }
}
