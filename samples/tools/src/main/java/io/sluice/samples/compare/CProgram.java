package io.sluice.samples.compare;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The programs in C that transfers are compared with. The sources of each are resources of this package. */
enum CProgram {
    /** Sockets, memory of the host, and processes. */
    CEILING(
            "ceiling.h",
            "clock.c",
            "complaint.c",
            "cross_memory_write.c",
            "hello.c",
            "main.c",
            "memory.c",
            "memory_copy.c",
            "one_sided.c",
            "ping_pong.c",
            "sockets.c"),
    /** Dispatch and combine of experts by copies between shared memory. */
    EXPERTS("experts.h", "copies.c", "measure.c", "plan.c", "routes.c", "vectors.c"),
    /** GPUs, by the driver and by NCCL. */
    GPU(
            "cuda_api.h",
            "driver.h",
            "gpu.h",
            "nccl.h",
            "both_ways.c",
            "complaint.c",
            "content.c",
            "copy.c",
            "driver.c",
            "loop.c",
            "main.c",
            "memory.c",
            "nccl.c",
            "nccl_collective.c",
            "nccl_library.c",
            "pages.c",
            "pair.c",
            "peer.c",
            "stream.c");

    /** The variable that a package's launcher names the folder of the built programs in: its host may have no compiler. */
    private static final String PACKAGED = "SLUICE_PEERS";
    /** The source files that all programs share. */
    private static final List<String> SHARED = List.of("arguments.h", "arguments.c");

    private final List<String> files;

    CProgram(String... files) {
        this.files = List.of(files);
    }

    /** The program's name, and the folder of its sources. */
    String fileName() {
        return name().toLowerCase(Locale.ROOT);
    }

    List<String> files() {
        return Stream.concat(SHARED.stream(), files.stream().map(file -> fileName() + "/" + file))
                .toList();
    }

    /** It as a package has it, or {@code null} if this is no package or lacks it. */
    @Nullable
    Path packaged() {
        String folder = System.getenv(PACKAGED);
        Path file = Path.of(folder == null ? "" : folder, fileName());
        return folder != null && !folder.isEmpty() && Files.isExecutable(file) ? file : null;
    }
}
