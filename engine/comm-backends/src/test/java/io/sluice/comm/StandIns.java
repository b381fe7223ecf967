package io.sluice.comm;

import io.sluice.comm.nvshmem.NvshmemBackendProvider;
import io.sluice.experts.backend.CommBackend;
import io.sluice.experts.backend.CommBackendProvider;
import io.sluice.experts.backend.CommSettings;
import io.sluice.jni.CudaLibrary;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** What stands in for the libraries where there are none, and what it can do to the tests. */
public final class StandIns {
    private static final Path CUDA = Path.of(System.getProperty("sluice.cuda.library", "libcuda.so.1"));
    private static final Path FOLDER = CUDA.toAbsolutePath().getParent();

    /** NCCL 2.28, without windows to put into. */
    public static final String NCCL = FOLDER.resolve("libsoftnccl.so").toString();

    /** NCCL 2.29, with them. */
    public static final String NCCL_WITH_WINDOWS =
            FOLDER.resolve("libsoftnccl-windows.so").toString();

    /** NVSHMEM 3.4. */
    public static final String NVSHMEM = FOLDER.resolve("libsoftnvshmem.so").toString();

    static {
        // the copies below have no folder in which they would find it
        String refused = CudaLibrary.load(CUDA.toString());
        if (refused != null) {
            throw new IllegalStateException(refused);
        }
    }

    private StandIns() {}

    /** Copies of NVSHMEM's, as each rank of this process needs one of its own. */
    public static List<String> copiesOfNvshmem(int ranks) {
        try {
            List<String> copies = new ArrayList<>();
            for (int rank = 0; rank < ranks; rank++) {
                Path copy = Files.createTempFile("nvshmem", ".so");
                copy.toFile().deleteOnExit();
                Files.write(copy, Files.readAllBytes(Path.of(NVSHMEM)));
                copies.add(copy.toString());
            }
            return copies;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Calls a function of a stand-in that takes a number. */
    public static void set(String library, String function, long value) {
        call(library, function, FunctionDescriptor.ofVoid(ValueLayout.JAVA_LONG), value);
    }

    /** Calls a function of a stand-in that takes a text; "" for none. */
    public static void set(String library, String function, String value) {
        MemorySegment text =
                value.isEmpty() ? MemorySegment.NULL : Arena.global().allocateFrom(value);
        call(library, function, FunctionDescriptor.ofVoid(ValueLayout.ADDRESS), text);
    }

    /** What a stand-in has counted. */
    public static long count(String library, String function, String what) {
        return (long) call(
                library,
                function,
                FunctionDescriptor.of(ValueLayout.JAVA_LONG, ValueLayout.ADDRESS),
                Arena.global().allocateFrom(what));
    }

    private static Object call(String library, String function, FunctionDescriptor descriptor, Object argument) {
        try {
            return Linker.nativeLinker()
                    .downcallHandle(
                            SymbolLookup.libraryLookup(library, Arena.global()).findOrThrow(function), descriptor)
                    .invoke(argument);
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    /** A provider whose ranks have a copy of NVSHMEM's stand-in each. */
    public static final class RankedNvshmem implements CommBackendProvider {
        private final List<CommBackendProvider> providers;
        private final String name;

        /** Creates one for a number of ranks. */
        public RankedNvshmem(String name, List<String> copies) {
            this.name = name;
            this.providers = copies.stream()
                    .<CommBackendProvider>map(NvshmemBackendProvider::new)
                    .toList();
        }

        @Override
        public String name() {
            return name;
        }

        @Override
        public byte[] uniqueId() {
            return providers.getFirst().uniqueId();
        }

        @Override
        public CompletableFuture<CommBackend> open(CommSettings settings) {
            return providers.get(settings.team().rank()).open(settings);
        }
    }
}
