package io.sluice.jni;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.testkit.Patience;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The PTX is committed, so that the build has no need of nvcc: it must be what the source says. */
class CudaKernelsTest {
    private static final Path SOURCE = Path.of("src/main/cuda/kernels.cu");
    private static final Path DIGEST = Path.of("src/main/cuda/kernels.sha256");

    @TempDir
    Path folder;

    private static Path inModule(Path path) {
        return Path.of(System.getProperty("basedir", System.getProperty("user.dir")))
                .resolve(path);
    }

    private static String digest() throws IOException, NoSuchAlgorithmException {
        MessageDigest digest = MessageDigest.getInstance("SHA-256");
        digest.update(Files.readAllBytes(inModule(SOURCE)));
        digest.update(CudaKernels.ptx().getBytes(US_ASCII));
        return HexFormat.of().formatHex(digest.digest());
    }

    /** Everywhere: neither has changed since they were made together. */
    @Test
    void source_and_ptx_were_made_together() throws Exception {
        assertThat(digest())
                .as("after a change of kernels.cu: make -C native kernels")
                .isEqualTo(Files.readString(inModule(DIGEST)).strip());
    }

    @Test
    void the_ptx_is_for_old_devices_and_drivers() {
        assertThat(CudaKernels.ptx()).contains(".version 6.3\n", ".target sm_75\n", ".entry sluice_copy_pages(");
    }

    @Test
    @Tag("soak")
    void nvcc_makes_the_same() throws Exception {
        Path made = folder.resolve("kernels.ptx");
        try {
            assertThat(Patience.exit(new ProcessBuilder("nvcc", "--version")
                            .redirectErrorStream(true)
                            .redirectOutput(folder.resolve("version").toFile())
                            .start()))
                    .isZero();
        } catch (IOException e) {
            Assumptions.abort("no nvcc: the digest alone says that source and PTX belong together");
        }
        // another release may choose other instructions, with the same entries
        String version = Files.readString(folder.resolve("version"));
        Assumptions.assumeTrue(version.contains("release 13.0,"), "another nvcc than the PTX is of: " + version);
        ProcessBuilder make =
                new ProcessBuilder("make", "kernels", "KERNELS=" + made, "DIGEST=" + folder.resolve("digest"));
        make.environment().keySet().removeAll(List.of("MAKEFLAGS", "MFLAGS", "MAKELEVEL"));
        ChildJvm.Output output =
                ChildJvm.run(make.directory(inModule(Path.of("")).toFile()));
        assertThat(output.status()).as(output.text()).isZero();
        assertThat(Files.readString(made)).isEqualTo(CudaKernels.ptx());
    }
}
