package io.sluice.samples.compare;

import java.util.List;
import java.util.Locale;

/** The programs in C that transfers are compared with. The sources of each are resources of this package. */
enum CProgram {
    /** Sockets, memory of the host, and processes. */
    CEILING(
            "ceiling.h",
            "clock.c",
            "complaint.c",
            "cross_memory_write.c",
            "get.c",
            "hello.c",
            "main.c",
            "memory.c",
            "memory_copy.c",
            "ping_pong.c",
            "put.c",
            "sockets.c"),
    /** GPUs, by the driver and by NCCL. */
    GPU(
            "driver.h",
            "gpu.h",
            "complaint.c",
            "content.c",
            "copy.c",
            "driver.c",
            "loop.c",
            "main.c",
            "memory.c",
            "nccl.c",
            "pages.c",
            "pair.c",
            "peer.c",
            "stream.c");

    private final List<String> files;

    CProgram(String... files) {
        this.files = List.of(files);
    }

    /** What it is called, and the folder of its sources. */
    String fileName() {
        return name().toLowerCase(Locale.ROOT);
    }

    List<String> files() {
        return files;
    }
}
