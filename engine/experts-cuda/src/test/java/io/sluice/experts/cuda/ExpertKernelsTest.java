package io.sluice.experts.cuda;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.cuda.GpuInfo;
import io.sluice.cuda.GpuModuleException;
import io.sluice.testkit.Patience;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The PTX is committed, so that the build has no need of nvcc: it must be what the sources say. */
class ExpertKernelsTest {
    private static final Path MODULE = Path.of(System.getProperty("basedir", System.getProperty("user.dir")));
    private static final Path SOURCES = MODULE.resolve("src/main/cuda");

    @TempDir
    Path folder;

    static List<String> names() throws IOException {
        try (Stream<Path> files = Files.list(SOURCES)) {
            return files.map(file -> file.getFileName().toString())
                    .filter(name -> name.endsWith(".cu"))
                    .map(name -> name.substring(0, name.length() - ".cu".length()))
                    .sorted()
                    .toList();
        }
    }

    private static List<Path> headers() throws IOException {
        try (Stream<Path> files = Files.list(SOURCES)) {
            return files.filter(file -> file.toString().endsWith(".cuh"))
                    .sorted()
                    .toList();
        }
    }

    /** Everywhere: neither has changed since they were made together. */
    @ParameterizedTest
    @MethodSource("names")
    void sources_and_ptx_were_made_together(String name) throws Exception {
        MessageDigest digest = MessageDigest.getInstance("SHA-256");
        for (Path header : headers()) {
            digest.update(Files.readAllBytes(header));
        }
        digest.update(Files.readAllBytes(SOURCES.resolve(name + ".cu")));
        digest.update(KernelModule.ptx(name));
        assertThat(HexFormat.of().formatHex(digest.digest()))
                .as("after a change of %s.cu or of a header: make -C engine/experts-cuda kernels", name)
                .isEqualTo(Files.readString(SOURCES.resolve(name + ".sha256")).strip());
        assertThat(new String(KernelModule.ptx(name), US_ASCII))
                .contains(
                        name.endsWith("_fp8") ? ".version 8.1\n.target sm_89\n" : ".version 6.3\n.target sm_75\n",
                        ".entry sluice_experts_");
    }

    @Test
    void what_a_gpu_does_not_take_gives_way_to_the_next() {
        String gpu = GpuInfo.all().getFirst().id();
        KernelModule module = KernelModule.load(gpu, "of_no_gpu", "buffer");
        module.kernel("sluice_experts_leave");
        Patience.await(module.close());
        assertThatThrownBy(() -> KernelModule.load(gpu, "of_no_gpu", "of_no_gpu"))
                .isInstanceOf(GpuModuleException.class);
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
            Assumptions.abort("no nvcc: the digests alone say that sources and PTX belong together");
        }
        // another release may choose other instructions, with the same entries
        String version = Files.readString(said);
        Assumptions.assumeTrue(version.contains("release 13.0,"), "another nvcc than the PTX is of: " + version);
        ProcessBuilder make = new ProcessBuilder("make", "kernels", "KERNELS=" + folder, "DIGESTS=" + folder);
        make.environment().keySet().removeAll(List.of("MAKEFLAGS", "MFLAGS", "MAKELEVEL"));
        Path log = folder.resolve("log");
        int status = Patience.exit(make.directory(MODULE.toFile())
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start());
        assertThat(status).as(Files.readString(log)).isZero();
        for (String name : names()) {
            assertThat(Files.readString(folder.resolve("experts_" + name + ".ptx")))
                    .isEqualTo(new String(KernelModule.ptx(name), US_ASCII));
        }
    }
}
