package io.sluice.collectives.cuda;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.testkit.Patience;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The PTX is committed, so that the build has no need of nvcc: it must be what the source says. */
class TeamKernelsTest {
    private static final Path MODULE = Path.of(System.getProperty("basedir", System.getProperty("user.dir")));
    private static final Path SOURCES = MODULE.resolve("src/main/cuda");

    @TempDir
    Path folder;

    /** Everywhere: neither has changed since they were made together. */
    @Test
    void source_and_ptx_were_made_together() throws Exception {
        MessageDigest digest = MessageDigest.getInstance("SHA-256");
        digest.update(Files.readAllBytes(SOURCES.resolve("collectives.cuh")));
        digest.update(Files.readAllBytes(SOURCES.resolve("collectives.cu")));
        digest.update(TeamKernels.ptx());
        assertThat(HexFormat.of().formatHex(digest.digest()))
                .as("after a change of collectives.cu or its header: make -C engine/collectives-cuda kernels")
                .isEqualTo(
                        Files.readString(SOURCES.resolve("collectives.sha256")).strip());
    }

    @Test
    void the_ptx_is_for_old_devices_and_drivers() {
        assertThat(new String(TeamKernels.ptx(), US_ASCII))
                .contains(
                        ".version 6.3\n", ".target sm_75\n", ".entry sluice_exchange(", ".entry sluice_push_float32(");
    }

    @Test
    @Tag("soak")
    void nvcc_makes_the_same() throws Exception {
        Path said = folder.resolve("version");
        try {
            assertThat(Patience.exit(new ProcessBuilder("nvcc", "--version")
                            .redirectErrorStream(true)
                            .redirectOutput(said.toFile())
                            .start()))
                    .isZero();
        } catch (IOException e) {
            Assumptions.abort("no nvcc: the digest alone says that source and PTX belong together");
        }
        // another release may choose other instructions, with the same entries
        String version = Files.readString(said);
        Assumptions.assumeTrue(version.contains("release 13.0,"), "another nvcc than the PTX is of: " + version);
        Path made = folder.resolve("collectives.ptx");
        ProcessBuilder make =
                new ProcessBuilder("make", "kernels", "KERNELS=" + made, "DIGEST=" + folder.resolve("digest"));
        make.environment().keySet().removeAll(List.of("MAKEFLAGS", "MFLAGS", "MAKELEVEL"));
        Path log = folder.resolve("log");
        int status = Patience.exit(make.directory(MODULE.toFile())
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start());
        assertThat(status).as(Files.readString(log)).isZero();
        assertThat(Files.readString(made)).isEqualTo(new String(TeamKernels.ptx(), US_ASCII));
    }
}
