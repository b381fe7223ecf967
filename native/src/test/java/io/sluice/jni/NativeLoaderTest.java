package io.sluice.jni;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class NativeLoaderTest {
    @TempDir
    Path folder;

    private final Map<String, String> properties = new HashMap<>();
    private final FakeLinker linker = new FakeLinker();

    @Test
    void an_unsupported_system_is_named() {
        properties.put("os.name", "Windows 11");
        properties.put("os.arch", "amd64");

        LoadOutcome outcome = new NativeLoader(properties::get, linker).load();

        assertThat(outcome.cause())
                .hasMessageContaining("Windows 11 amd64")
                .hasMessageContaining("Linux on x86_64 and aarch64");
        assertThat(linker.tried).isEmpty();
    }

    @Test
    void an_unsupported_processor_is_named() {
        properties.put("os.arch", "riscv64");

        assertThat(load().cause()).hasMessageContaining("Linux riscv64");
        assertThat(linker.tried).isEmpty();
    }

    @Test
    void an_explicit_file_is_the_only_one_tried() {
        properties.put(NativeLoader.PATH_PROPERTY, "/some where/libsluice.so");

        LoadOutcome outcome = load();

        assertThat(outcome.cause()).isNull();
        assertThat(linker.tried).containsExactly("/some where/libsluice.so");
    }

    @Test
    void nothing_stands_in_for_an_explicit_file_that_fails() {
        properties.put(NativeLoader.PATH_PROPERTY, "/gone/libsluice.so");
        linker.failures.put("/gone/libsluice.so", "cannot open shared object file");

        LoadOutcome outcome = load();

        assertThat(outcome.cause())
                .hasMessageContaining("-Dsluice.native.path=/gone/libsluice.so: cannot open shared object file")
                .hasMessageContaining("leave it out");
        assertThat(linker.tried).containsExactly("/gone/libsluice.so");
    }

    @Test
    void the_library_path_comes_before_the_jar() {
        LoadOutcome outcome = load();

        assertThat(outcome).isEqualTo(LoadOutcome.loaded("java.library.path=/usr/lib"));
        assertThat(linker.tried).containsExactly("sluice");
    }

    @Test
    void the_library_of_the_jar_is_private_and_deleted_after_loading() {
        linker.failures.put("sluice", "no sluice in java.library.path");

        assertThat(load().cause()).isNull();

        assertThat(linker.tried).hasSize(2);
        assertThat(Path.of(linker.tried.get(1))).startsWithRaw(folder).hasFileName("libsluice.so");
        assertThat(linker.permissionsOfFolder).isEqualTo("rwx------");
        assertThat(linker.sizeOfFile).isPositive();
        assertThat(folder).isEmptyDirectory();
    }

    @Test
    void the_named_temporary_folder_wins() throws IOException {
        linker.failures.put("sluice", "no sluice in java.library.path");
        Path named = Files.createDirectory(folder.resolve("named"));
        properties.put(JarLibrary.FOLDER_PROPERTY, named.toString());

        assertThat(load().cause()).isNull();

        assertThat(Path.of(linker.tried.get(1))).startsWithRaw(named);
        assertThat(named).isEmptyDirectory();
    }

    @Test
    void every_failure_is_reported() {
        linker.failures.put("sluice", "no sluice in java.library.path");
        properties.put("java.io.tmpdir", folder.resolve("missing").toString());

        Throwable cause = load().cause();

        assertThat(cause)
                .hasMessageContaining("no sluice in java.library.path")
                .hasMessageContaining("missing")
                .hasMessageContaining("sluice.native.tmpdir");
        assertThat(cause.getSuppressed()).hasSize(2);
        assertThat(cause.getSuppressed()[0]).hasCauseInstanceOf(UnsatisfiedLinkError.class);
        assertThat(cause.getSuppressed()[1]).hasCauseInstanceOf(IOException.class);
    }

    @Test
    void a_failed_extraction_leaves_nothing_behind() {
        linker.failures.put("sluice", "no sluice in java.library.path");
        linker.failures.put("libsluice.so", "wrong ELF class");

        assertThat(load().cause()).hasMessageContaining("wrong ELF class");
        assertThat(folder).isEmptyDirectory();
    }

    @Test
    void a_platform_without_a_library_in_the_jar_is_reported() {
        properties.put("os.arch", NativeLibrary.version().contains("aarch64") ? "amd64" : "aarch64");
        linker.failures.put("sluice", "no sluice in java.library.path");

        assertThat(load().cause()).hasMessageContaining("no resource /META-INF/native/linux-");
    }

    @Test
    void a_foreign_library_of_the_same_name_is_passed_over() {
        linker.versions.add(() -> {
            throw new UnsatisfiedLinkError("abiVersion");
        });

        LoadOutcome outcome = load();

        assertThat(outcome.cause()).isNull();
        assertThat(linker.tried).hasSize(2);
    }

    @Test
    void a_library_of_another_version_ends_the_search() {
        linker.versions.add(() -> Shim.ABI_VERSION + 1);

        Throwable cause = load().cause();

        assertThat(cause)
                .hasMessageContaining("java.library.path=/usr/lib")
                .hasMessageContaining("interface version " + (Shim.ABI_VERSION + 1) + ", not " + Shim.ABI_VERSION);
        assertThat(linker.tried).containsExactly("sluice");
    }

    private LoadOutcome load() {
        properties.putIfAbsent("os.name", "Linux");
        properties.putIfAbsent("os.arch", System.getProperty("os.arch"));
        properties.putIfAbsent("java.library.path", "/usr/lib");
        properties.putIfAbsent("java.io.tmpdir", folder.toString());
        return new NativeLoader(properties::get, linker).load();
    }

    private static final class FakeLinker implements Linker {
        final List<String> tried = new ArrayList<>();
        final Map<String, String> failures = new HashMap<>();
        final List<Supplier<Integer>> versions = new ArrayList<>();
        String permissionsOfFolder = "";
        long sizeOfFile;

        @Override
        public void load(String name) {
            tried.add(name);
            Path file = Path.of(name);
            if (Files.exists(file)) {
                inspect(file);
            }
            fail(failures.getOrDefault(name, failures.get(file.getFileName().toString())));
        }

        @Override
        public void loadLibrary(String name) {
            tried.add(name);
            fail(failures.get(name));
        }

        @Override
        public int abiVersion() {
            return versions.isEmpty()
                    ? Shim.ABI_VERSION
                    : versions.removeFirst().get();
        }

        private void inspect(Path file) {
            try {
                permissionsOfFolder = PosixFilePermissions.toString(Files.getPosixFilePermissions(file.getParent()));
                sizeOfFile = Files.size(file);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        private static void fail(String message) {
            if (message != null) {
                throw new UnsatisfiedLinkError(message);
            }
        }
    }
}
