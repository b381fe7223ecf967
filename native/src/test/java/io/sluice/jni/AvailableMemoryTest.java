package io.sluice.jni;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The memory that a process may still use, from kernel files that the test makes up. */
class AvailableMemoryTest {
    private static final long MIB = 1L << 20;
    private static final long MACHINE = 8192 * MIB;
    private static final String V1_MOUNT = "32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n"
            + "35 31 0:32 %s /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup rw,memory\n";
    private static final String V2_MOUNT = "29 23 0:26 %s /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw\n";

    @TempDir
    Path root;

    private void file(String path, String text) throws IOException {
        Path file = root.resolve(path);
        Files.createDirectories(file.getParent());
        Files.writeString(file, text);
    }

    private void machine() throws IOException {
        file(
                "proc/meminfo",
                "MemTotal:  16777216 kB\nMemFree:  1 kB\nMemAvailable:    8388608 kB\nSwapFree: 99999999 kB\n");
    }

    private void group(String files, String mounts) throws IOException {
        machine();
        file("proc/self/cgroup", files);
        file("proc/self/mountinfo", "23 1 8:1 / / rw,relatime - ext4 /dev/root rw\n" + mounts);
    }

    private void v1(String folder, String limit, long usage, long reclaimable) throws IOException {
        String at = "sys/fs/cgroup/memory" + folder;
        file(at + "/memory.limit_in_bytes", limit + "\n");
        file(at + "/memory.usage_in_bytes", usage + "\n");
        file(
                at + "/memory.stat",
                "cache 5\ninactive_file 3\ntotal_cache 9\n"
                        + stat("total_active_file", "total_inactive_file", reclaimable));
    }

    private void v2(String folder, String limit, long usage, long reclaimable) throws IOException {
        String at = "sys/fs/cgroup" + folder;
        file(at + "/memory.max", limit + "\n");
        file(at + "/memory.current", usage + "\n");
        file(
                at + "/memory.stat",
                "anon 5\n" + stat("active_file", "inactive_file", reclaimable - reclaimable / 4) + "slab_reclaimable "
                        + reclaimable / 4 + "\nslab 7\n");
    }

    /** A third of the page cache is in use now and then, which keeps the kernel from dropping it as little. */
    private static String stat(String active, String inactive, long bytes) {
        return active + " " + bytes / 3 + "\n" + inactive + " " + (bytes - bytes / 3) + "\n";
    }

    private long available() {
        return MachineFacts.availableMemory(root);
    }

    @Test
    void without_groups_it_is_what_the_machine_has() throws IOException {
        machine();
        assertThat(available()).isEqualTo(MACHINE);
    }

    @Test
    void where_the_kernel_tells_nothing_it_is_an_error() {
        assertThat(available()).isEqualTo(-Errno.ENOSYS);
    }

    @Test
    void this_machine_tells() {
        assertThat(MachineFacts.availableMemory()).isBetween(1L, MachineFacts.totalMemory());
    }

    @Test
    void the_limit_of_a_version_1_group_counts_without_what_can_be_reclaimed() throws IOException {
        group("5:cpu,cpuacct:/other\n4:memory:/pod/one\n0::/\n", V1_MOUNT.formatted("/"));
        v1("", "9223372036854771712", 9000 * MIB, 10 * MIB);
        v1("/pod/one", Long.toString(512 * MIB), 300 * MIB, 100 * MIB);
        assertThat(available()).isEqualTo(312 * MIB);
    }

    @Test
    void the_limit_of_a_version_2_group_counts_without_what_can_be_reclaimed() throws IOException {
        group("0::/pod/one\n", V2_MOUNT.formatted("/"));
        v2("/pod/one", Long.toString(512 * MIB), 300 * MIB, 100 * MIB);
        assertThat(available()).isEqualTo(312 * MIB);
    }

    @ParameterizedTest
    @CsvSource({"512, max, 212", "max, 400, 50", "512, 400, 50", "max, max, 8192", "1000, 360, 10"})
    void the_narrowest_of_nested_groups_counts(String inner, String outer, long expected) throws IOException {
        group("0::/pod/one\n", V2_MOUNT.formatted("/"));
        v2("/pod/one", inMib(inner), 300 * MIB, 0);
        v2("/pod", inMib(outer), 350 * MIB, 0);
        assertThat(available()).isEqualTo(expected * MIB);
    }

    @Test
    void the_narrowest_of_nested_version_1_groups_counts() throws IOException {
        group("4:hugetlb,memory:/pod/one\n", V1_MOUNT.formatted("/"));
        v1("/pod/one", Long.toString(900 * MIB), 300 * MIB, 0);
        v1("/pod", Long.toString(400 * MIB), 350 * MIB, 0);
        assertThat(available()).isEqualTo(50 * MIB);
    }

    private static String inMib(String limit) {
        return limit.equals("max") ? limit : Long.toString(Long.parseLong(limit) * MIB);
    }

    @Test
    void a_full_group_leaves_nothing() throws IOException {
        group("0::/pod\n", V2_MOUNT.formatted("/"));
        v2("/pod", Long.toString(100 * MIB), 101 * MIB, 0);
        assertThat(available()).isZero();
    }

    @Test
    void the_machine_counts_where_it_has_less_than_the_limit() throws IOException {
        group("0::/pod\n", V2_MOUNT.formatted("/"));
        v2("/pod", Long.toString(100_000 * MIB), 101 * MIB, 0);
        assertThat(available()).isEqualTo(MACHINE);
    }

    @Test
    void in_a_name_space_the_mount_point_is_the_group() throws IOException {
        group("0::/\n", V2_MOUNT.formatted("/"));
        v2("", Long.toString(200 * MIB), 50 * MIB, 0);
        assertThat(available()).isEqualTo(150 * MIB);
    }

    @ParameterizedTest
    @CsvSource({"/docker/a, /docker/a", "/, /docker/a", "/docker/a/../b, /..", "/docker/a, /.."})
    void a_mount_of_a_part_of_the_tree_is_the_group_or_above_it(String group, String top) throws IOException {
        group("4:memory:" + group + "\n", V1_MOUNT.formatted(top));
        v1("", Long.toString(200 * MIB), 50 * MIB, 0);
        assertThat(available()).isEqualTo(150 * MIB);
    }

    @ParameterizedTest
    @CsvSource({"/docker/ab, /docker/a", "/../b, /", "/docker, /docker/a", "/docker/a, /../b"})
    void a_mount_of_another_part_of_the_tree_does_not_count(String group, String top) throws IOException {
        group("4:memory:" + group + "\n", V1_MOUNT.formatted(top));
        v1("", Long.toString(200 * MIB), 50 * MIB, 0);
        file("sys/fs/cgroup/b/memory.limit_in_bytes", "5");
        file("sys/fs/cgroup/b/memory.usage_in_bytes", "5");
        assertThat(available()).isEqualTo(MACHINE);
    }

    @Test
    void a_group_below_the_mounted_part_is_found() throws IOException {
        group("4:memory:/docker/a/inner\n", V1_MOUNT.formatted("/docker/a"));
        v1("/inner", Long.toString(200 * MIB), 50 * MIB, 0);
        assertThat(available()).isEqualTo(150 * MIB);
    }

    @Test
    void missing_files_and_nonsense_limit_nothing() throws IOException {
        group(
                "4:memory:/pod\nnonsense\n0::/pod\n",
                V1_MOUNT.formatted("/") + V2_MOUNT.formatted("/") + "nonsense\n - \n");
        file("sys/fs/cgroup/pod/memory.max", "5\n");
        file("sys/fs/cgroup/memory/pod/memory.limit_in_bytes", "five\n");
        file("sys/fs/cgroup/memory/pod/memory.usage_in_bytes", "5\n");
        assertThat(available()).isEqualTo(MACHINE);
    }

    @Test
    void a_group_counts_where_the_machine_tells_nothing_and_without_statistics() throws IOException {
        group("0::/pod\n", V2_MOUNT.formatted("/"));
        Files.delete(root.resolve("proc/meminfo"));
        v2("/pod", Long.toString(100 * MIB), 40 * MIB, 0);
        Files.delete(root.resolve("sys/fs/cgroup/pod/memory.stat"));
        assertThat(available()).isEqualTo(60 * MIB);
    }

    @Test
    void a_mount_point_may_have_blanks() throws IOException {
        group("0::/pod\n", "29 23 0:26 / /sys/con\\040trol rw - cgroup2 cgroup2 rw\n");
        file("sys/con trol/pod/memory.max", "70\n");
        file("sys/con trol/pod/memory.current", "50\n");
        assertThat(available()).isEqualTo(20);
    }
}
