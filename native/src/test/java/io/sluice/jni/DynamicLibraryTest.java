package io.sluice.jni;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

class DynamicLibraryTest {
    private static String variable(DynamicLibrary library, String name) throws Throwable {
        MemorySegment text = (MemorySegment) Linker.nativeLinker()
                .downcallHandle(
                        MemorySegment.ofAddress(library.address("getenv")),
                        FunctionDescriptor.of(ValueLayout.ADDRESS, ValueLayout.ADDRESS))
                .invokeExact(Arena.global().allocateFrom(name));
        return text.equals(MemorySegment.NULL) ? "" : text.reinterpret(1024).getString(0);
    }

    @Test
    void functions_are_found_and_variables_replace_those_that_are_set() throws Throwable {
        DynamicLibrary first = DynamicLibrary.open("libc.so.6", List.of("SLUICE_TEST_A=one", "SLUICE_TEST_B=two"));
        assertThat(first.cause()).isNull();
        assertThat(variable(first, "SLUICE_TEST_A")).isEqualTo("one");
        DynamicLibrary second = DynamicLibrary.open("libc.so.6", List.of("SLUICE_TEST_A=three"));
        assertThat(variable(second, "SLUICE_TEST_A")).isEqualTo("three");
        assertThat(variable(second, "SLUICE_TEST_B")).isEqualTo("two");
        assertThat(variable(second, "PATH")).isEqualTo(System.getenv("PATH"));
        assertThat(second.address("no_such_function")).isZero();
    }

    @Test
    void a_library_is_tried_without_effect() throws Throwable {
        // of the C library's, and needed by nothing here
        String file = "libanl.so.1";
        assertThat(maps()).doesNotContain(file);
        assertThat(DynamicLibrary.whyUnusable(file, List.of("strlen", "no_such_function")))
                .isEqualTo(file + " lacks the function no_such_function: use a newer one");
        assertThat(DynamicLibrary.whyUnusable(file, List.of("strlen"))).isNull();
        assertThat(maps()).doesNotContain(file);
        assertThat(DynamicLibrary.whyUnusable("/no/such/lib.so", List.of()))
                .startsWith("/no/such/lib.so cannot be loaded: ")
                .doesNotContain("\0");
    }

    private static String maps() throws IOException {
        return Files.readString(Path.of("/proc/self/maps"));
    }

    @Test
    void a_file_that_is_none_is_named() {
        DynamicLibrary absent = DynamicLibrary.open("/no/such/lib.so", List.of());
        assertThat(absent.cause())
                .startsWith("/no/such/lib.so cannot be loaded: ")
                .doesNotContain("\0");
        assertThat(absent.address("getenv")).isZero();
    }
}
