package io.sluice.jni;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A foreign library that puts handlers of signals in the place of the virtual machine's: null checks of compiled code go on,
 * also while it loads. Its handlers end the process with a status of their own.
 */
class SignalHandlersTest {
    private static final int ENDED_BY_A_FOREIGN_HANDLER = 97;
    private static final int NO_LISTENER = 3;
    private static final String EVERY_SIGNAL = "SIGILL, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGTERM";

    @TempDir
    private static Path built;

    private static Path library;
    private static Path listened;

    @TempDir
    Path folder;

    /** Each leaves null checks to the processor, in its own way. */
    enum Compiler {
        C1("-XX:TieredStopAtLevel=1"),
        // Else it would check by itself where it has met null a few times.
        C2("-XX:-TieredCompilation", "-XX:PerMethodTrapLimit=1000000", "-XX:PerBytecodeTrapLimit=1000000");

        private final List<String> options;

        Compiler(String... options) {
            this.options = List.of(options);
        }
    }

    @BeforeAll
    static void compile() throws Exception {
        Path adapter = SoftAdapter.file();
        library = built.resolve("libclaimant.so");
        compile(
                "claimant.c",
                library,
                "-shared",
                "-fPIC",
                "-Wl,--no-as-needed",
                adapter.toString(),
                "-Xlinker",
                "-rpath",
                "-Xlinker",
                adapter.getParent().toString());
        listened = built.resolve("listened");
        compile("listened.c", listened);
    }

    static Stream<Arguments> moments() {
        return Stream.of(Compiler.values())
                .flatMap(compiler -> Stream.of("load", "first use").map(moment -> Arguments.of(compiler, moment)));
    }

    @ParameterizedTest
    @MethodSource("moments")
    void null_checks_go_on_in_another_thread_while_it_loads(Compiler compiler, String moment) throws Exception {
        assumeTrue(hasListeners(), "skipped: this kernel or sandbox gives no listener for system calls");

        ChildJvm.Output output = run(compiler, moment, List.of(), "-D" + NullCheckMain.FOLDER + "=" + folder);

        assertThat(output.text())
                .contains("caught in " + folder.getFileName())
                // as -Xcheck:jni says where it finds one in place, be it for a moment
                .doesNotContain("handler modified");
        assertKept(output);
    }

    @ParameterizedTest
    @MethodSource("moments")
    void null_checks_go_on_afterwards_where_the_kernel_gives_no_guard(Compiler compiler, String moment)
            throws Exception {
        assumeTrue(hasListeners(), "skipped: this kernel or sandbox gives no listener for system calls");

        assertKept(run(compiler, moment, List.of(listened.toString())));
    }

    /** The precondition of the other tests: such a library ends the process. */
    @ParameterizedTest
    @EnumSource
    void a_library_that_is_loaded_plainly_ends_the_process(Compiler compiler) throws Exception {
        ChildJvm.Output output = run(compiler, "load", List.of(), "-D" + NullCheckMain.PLAINLY + "=true");

        assertThat(output.status()).as(output.text()).isEqualTo(ENDED_BY_A_FOREIGN_HANDLER);
    }

    @Test
    void signals_have_the_names_of_this_system() throws Exception {
        ChildJvm.Output output = ChildJvm.run(
                new ProcessBuilder("bash", "-c", "for i in {1..31}; do printf 'SIG%s, ' \"$(kill -l $i)\"; done"));

        assertThat(SignalNames.of(-1) + ", ").isEqualTo(output.text());
        assertThat(SignalNames.of(1)).isEmpty();
        assertThat(SignalNames.of(1 << 11 | 1 << 31)).isEqualTo("SIGSEGV, SIGSYS");
    }

    private static void assertKept(ChildJvm.Output output) {
        assertThat(output.status()).as(output.text()).isZero();
        assertThat(output.text())
                .contains("cause: null")
                .contains("caught afterwards: " + NullCheckMain.MANY)
                .contains("names: soft0 soft1")
                .contains("caught at last: " + NullCheckMain.MANY)
                .contains("claim: " + library + " wanted to handle " + EVERY_SIGNAL + ";")
                .contains("done");
    }

    private ChildJvm.Output run(Compiler compiler, String moment, List<String> prefix, String... options)
            throws IOException, InterruptedException {
        List<String> all = new ArrayList<>(compiler.options);
        all.addAll(List.of("-Xbatch", "-XX:-OmitStackTraceInFastThrow", "-D" + NullCheckMain.LIBRARY + "=" + library));
        all.addAll(Arrays.asList(options));
        List<String> command = new ArrayList<>(prefix);
        command.addAll(ChildJvm.commandOf(NullCheckMain.class, all.toArray(String[]::new)));
        ProcessBuilder program = new ProcessBuilder(command);
        program.environment().put("CLAIMANT_AT", moment);
        if (all.stream().anyMatch(option -> option.startsWith("-D" + NullCheckMain.FOLDER + "="))) {
            program.environment().put("CLAIMANT_FOLDER", folder.toString());
        }
        return ChildJvm.run(program);
    }

    private static boolean hasListeners() throws IOException, InterruptedException {
        int status =
                ChildJvm.run(new ProcessBuilder(listened.toString(), "true")).status();
        assertThat(status).isIn(0, NO_LISTENER);
        return status == 0;
    }

    private static void compile(String source, Path target, String... options)
            throws IOException, InterruptedException {
        Path file = ChildJvm.classes().resolve(Path.of("..", "..", "src", "test", "c", "claimant", source));
        String compiler = System.getenv().getOrDefault("CC", "cc");
        List<String> command = new ArrayList<>(
                List.of(compiler, "-O1", "-Wall", "-Werror", file.normalize().toString()));
        command.addAll(List.of(options));
        command.addAll(List.of("-o", target.toString(), "-ldl"));
        ChildJvm.Output output = ChildJvm.run(new ProcessBuilder(command));
        assertThat(output.status()).as(output.text()).isZero();
    }
}
