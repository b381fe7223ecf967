package io.sluice.cuda;

import io.sluice.testkit.PagePrograms;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** The programs of the page about memory of GPUs are compiled ones. */
class GpuPageTest {
    @Test
    void theProgramsAreCompiledOnes() throws IOException {
        PagePrograms.check(
                Path.of("../../docs/gpu.md"), Path.of("src/test/java/io/sluice/cuda/snippets/GpuPrograms.java"));
    }
}
