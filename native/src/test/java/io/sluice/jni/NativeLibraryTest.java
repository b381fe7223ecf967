package io.sluice.jni;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class NativeLibraryTest {
    @TempDir
    Path folder;

    @Test
    void the_library_is_available() {
        assertThat(NativeLibrary.unavailabilityCause()).isNull();
        assertThat(NativeLibrary.isAvailable()).isTrue();
        NativeLibrary.ensureAvailable();
        assertThat(NativeLibrary.version()).matches("7 linux-(x86_64|aarch64) (gcc|clang) .+");
    }

    @Test
    void every_native_method_has_its_function_and_passes_the_checks() throws Exception {
        ChildJvm.Output output = ChildJvm.run(LoadingMain.class, "-Djava.io.tmpdir=" + folder);

        assertLoaded(output, "the jar's library for linux-");
        assertThat(folder).isEmptyDirectory();
    }

    @Test
    void it_loads_as_a_module() throws Exception {
        assertLoaded(ChildJvm.runAsModule(LoadingMain.class), "the jar's library for linux-");
    }

    @Test
    void it_loads_from_an_explicit_path() throws Exception {
        Path library = Files.copy(ChildJvm.library(), folder.resolve("a library.so"));

        ChildJvm.Output output = ChildJvm.run(LoadingMain.class, "-Dsluice.native.path=" + library);

        assertLoaded(output, "-Dsluice.native.path=" + library);
    }

    @Test
    void it_loads_from_the_library_path() throws Exception {
        Files.copy(ChildJvm.library(), folder.resolve("libsluice.so"));

        ChildJvm.Output output = ChildJvm.run(LoadingMain.class, "-Djava.library.path=" + folder);

        assertLoaded(output, "java.library.path=" + folder);
    }

    @Test
    void a_bad_explicit_path_gives_a_clear_cause() throws Exception {
        ChildJvm.Output output = ChildJvm.run(LoadingMain.class, "-Dsluice.native.path=" + folder + "/missing.so");

        assertNotLoaded(output);
        assertThat(output.text())
                .contains("java.lang.IllegalStateException: Sluice's native library is not available on Linux")
                .contains("Tried -Dsluice.native.path=" + folder + "/missing.so: ")
                .contains("Set -Dsluice.native.path to this version's libsluice.so");
    }

    @Test
    void a_file_that_is_no_library_gives_a_clear_cause() throws Exception {
        Path file = Files.writeString(folder.resolve("libsluice.so"), "no library");

        ChildJvm.Output output = ChildJvm.run(LoadingMain.class, "-Dsluice.native.path=" + file);

        assertNotLoaded(output);
        assertThat(output.text()).contains("Tried -Dsluice.native.path=" + file + ": ");
    }

    @Test
    void a_denied_native_access_gives_a_clear_cause() throws Exception {
        ChildJvm.Output output = ChildJvm.runDenied(LoadingMain.class);

        assertNotLoaded(output);
        assertThat(output.text())
                .contains("Illegal native access")
                .contains("Start java with --enable-native-access=ALL-UNNAMED.");
    }

    @Test
    void a_temporary_folder_mounted_noexec_is_reported() throws Exception {
        Path noexec = writableNoexecFolder();
        assumeTrue(noexec != null, "skipped: no writable folder here is mounted noexec");

        ChildJvm.Output output = ChildJvm.run(LoadingMain.class, "-Dsluice.native.tmpdir=" + noexec);

        assertNotLoaded(output);
        assertThat(output.text())
                .contains("the file system of " + noexec + " is mounted noexec")
                .contains("Set -Dsluice.native.tmpdir to a writable folder that is not mounted noexec");
        try (var left = Files.list(noexec)) {
            assertThat(left).noneMatch(path -> path.getFileName().toString().startsWith("sluice-native-"));
        }
    }

    private static void assertLoaded(ChildJvm.Output output, String origin) {
        assertThat(output.text())
                .contains("available: true", "origin: " + origin, "peer: true", "done")
                .doesNotContain("WARNING", "FATAL ERROR", "Exception", "Error:");
        assertThat(output.status()).isZero();
    }

    private static void assertNotLoaded(ChildJvm.Output output) {
        assertThat(output.text())
                .contains("available: false", "same cause: true", "Suppressed: java.")
                .doesNotContain("ExceptionInInitializerError");
        assertThat(output.status()).isZero();
    }

    private static Path writableNoexecFolder() throws IOException {
        List<String> mounts = Files.readAllLines(Path.of("/proc/self/mounts"));
        return mounts.stream()
                .map(line -> Path.of(line.split(" ")[1]))
                .filter(point -> !point.startsWith("/proc") && !point.startsWith("/sys"))
                .filter(point -> Files.isDirectory(point) && Files.isWritable(point))
                .filter(point -> ProcFiles.isOnNoexecMount(mounts, point))
                .findFirst()
                .orElse(null);
    }
}
