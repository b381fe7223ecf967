package io.sluice.jni;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ProcFilesTest {
    @Test
    void the_soft_limit_of_locked_memory_is_read() {
        assertThat(ProcFiles.lockedMemoryLimit(List.of(
                        "Limit                     Soft Limit           Hard Limit           Units     ",
                        "Max locked memory         8388608              unlimited            bytes     ")))
                .isEqualTo(8388608);
        assertThat(ProcFiles.lockedMemoryLimit(
                        List.of("Max locked memory         unlimited            unlimited            bytes     ")))
                .isEqualTo(-1);
        assertThatThrownBy(() -> ProcFiles.lockedMemoryLimit(List.of()))
                .isInstanceOf(UncheckedIOException.class)
                .hasMessageContaining("Max locked memory");
    }

    @Test
    void total_memory_is_read_in_bytes() {
        assertThat(ProcFiles.totalMemory(List.of("MemTotal:       16384 kB", "MemFree:         1 kB")))
                .isEqualTo(16L << 20);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "''|{}",
                "0|{0}",
                "0-0|{0}",
                "0-3|{0, 1, 2, 3}",
                "0-1,8,10-11|{0, 1, 8, 10, 11}",
                "' 2 , 4 '|{2, 4}",
                "63-64|{63, 64}"
            })
    void processors_are_parsed(String list, String processors) {
        assertThat(MachineFacts.processors(list)).hasToString(processors);
    }

    @ParameterizedTest
    @ValueSource(strings = {"x", "3-1", "-1", "1-x,5", "1-2-3,4", "99999999999,7", "0-2147483647", "1,"})
    void an_invalid_list_of_processors_is_an_error(String list) {
        assertThatThrownBy(() -> MachineFacts.processors(list)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void the_processor_is_named() {
        assertThat(ProcFiles.cpuModel(List.of("processor\t: 0", "model\t\t: 85", "model name\t: Fast: CPU 2")))
                .isEqualTo("Fast: CPU 2");
        assertThat(ProcFiles.cpuModel(List.of("CPU implementer\t: 0x41", "CPU part\t: 0xd0c")))
                .isEqualTo("ARM implementer 0x41 part 0xd0c");
        assertThat(ProcFiles.cpuModel(List.of())).isEqualTo("unknown");
    }

    @Test
    void the_deepest_and_last_mount_decides() {
        List<String> mounts = List.of(
                "/dev/a / ext4 rw,noexec 0 0",
                "tmpfs /tmp tmpfs rw,nosuid 0 0",
                "tmpfs /tmp/a\\040b tmpfs rw,noexec,nosuid 0 0",
                "tmpfs /run tmpfs rw,noexec 0 0",
                "tmpfs /run tmpfs rw 0 0");

        assertThat(ProcFiles.isOnNoexecMount(mounts, Path.of("/home/x"))).isTrue();
        assertThat(ProcFiles.isOnNoexecMount(mounts, Path.of("/tmp/x"))).isFalse();
        assertThat(ProcFiles.isOnNoexecMount(mounts, Path.of("/tmpx"))).isTrue();
        assertThat(ProcFiles.isOnNoexecMount(mounts, Path.of("/tmp/a b/x"))).isTrue();
        assertThat(ProcFiles.isOnNoexecMount(mounts, Path.of("/run/x"))).isFalse();
    }
}
