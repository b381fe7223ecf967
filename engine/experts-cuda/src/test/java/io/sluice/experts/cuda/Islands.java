package io.sluice.experts.cuda;

import io.sluice.cuda.CudaOptions;
import io.sluice.engine.EngineOptions;
import io.sluice.testkit.PatientOptions;
import java.util.List;
import java.util.Map;

/**
 * How ranks reach each other's memory of GPUs, a letter for each: those with an {@code a} map it; a dot's goes through tcp, and that of a
 * {@code v} through an adapter in software, to another one and from there.
 *
 * @param letters such as {@code aa.}: ranks 0 and 1 reach each other, and the host carries to rank 2
 */
record Islands(String letters) {
    /** All reach each other. */
    static Islands one(int size) {
        return new Islands("a".repeat(size));
    }

    int size() {
        return letters.length();
    }

    EngineOptions engine(int rank) {
        EngineOptions.Builder options = PatientOptions.builder();
        if (letters.charAt(rank) == 'v') {
            SoftGpuCounts.assumeSoftware();
            options.transports(List.of("verbs", "tcp", "cuda"))
                    .environment(Map.of("SLUICE_VERBS_DEVICES", "soft" + rank % 2));
        } else {
            options.transports(List.of("shm", "tcp", "cuda"));
        }
        return options.transport(CudaOptions.builder()
                        .mapped(letters.charAt(rank) == 'a')
                        .build())
                .build();
    }

    @Override
    public String toString() {
        return letters;
    }
}
