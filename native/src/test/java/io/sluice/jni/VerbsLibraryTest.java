package io.sluice.jni;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import org.junit.jupiter.api.Test;

class VerbsLibraryTest {
    @Test
    void a_library_with_devices_names_them() throws Exception {
        assertThat(load(SoftAdapter.file().toString(), "/nowhere"))
                .contains("before: [] -" + Errno.ENODEV + " unknown")
                .contains("causes: [null]")
                .contains("again: null")
                .contains("names: [soft0, soft1]")
                .contains("unknown: -" + Errno.ENODEV)
                .contains("done");
    }

    @Test
    void a_file_that_is_not_there_is_named_and_stays_the_answer() throws Exception {
        String message =
                "/nowhere/libföö.so cannot be loaded: /nowhere/libföö.so: cannot open shared object file: No such file or directory";
        assertThat(load("/nowhere/libföö.so", SoftAdapter.file().toString()))
                .contains("causes: [" + message + "]")
                .contains("again: " + message)
                .contains("names: []")
                .contains("done");
    }

    @Test
    void a_library_that_is_another_one_is_refused_with_the_function_that_it_lacks() throws Exception {
        String file = ChildJvm.library().toString();
        assertThat(load(file, ""))
                .contains("causes: [" + file + " lacks the function ibv_get_device_list]")
                .contains("names: []")
                .contains("done");
    }

    @Test
    void the_systems_own_library_is_used_where_no_file_is_named() throws Exception {
        String text = load("", "");
        assertThat(text).containsAnyOf("causes: [null]", "causes: [libibverbs.so.1 cannot be loaded: ");
        assertThat(text).contains("done");
    }

    private static String load(String first, String second) throws IOException, InterruptedException {
        ChildJvm.Output output = ChildJvm.run(
                VerbsLoadingMain.class,
                "-Dsun.jnu.encoding=UTF-8",
                "-Dstdout.encoding=UTF-8",
                "-D" + VerbsLoadingMain.FIRST + "=" + first,
                "-D" + VerbsLoadingMain.SECOND + "=" + second);
        assertThat(output.status()).as(output.text()).isZero();
        return output.text();
    }
}
