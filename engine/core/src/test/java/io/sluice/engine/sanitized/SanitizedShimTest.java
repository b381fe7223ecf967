package io.sluice.engine.sanitized;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.sluice.testkit.Patience;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Runs the tests that use the native library most in a virtual machine whose library is built with the address and
 * undefined-behaviour sanitizers, and first makes sure that these would have their say.
 *
 * <p>{@code -Dsluice.test.sanitized=tcp,shm} runs some groups only, {@code -Dsluice.test.sanitized-profile=small} the contract
 * with less volume. The output of the tests lies in {@code target/sanitized}.
 */
@Tag("soak")
class SanitizedShimTest {
    private static final Path FOLDER =
            Path.of(System.getProperty("basedir", "."), "target", "sanitized").toAbsolutePath();
    private static final String LAUNCHER = "org.junit.platform.console.ConsoleLauncher";
    private static final Pattern COUNT =
            Pattern.compile("\\[\\s*(\\d+) tests (found|skipped|aborted|successful|failed)\\s*]");
    /** A whole run of tests is more than any one thing. */
    private static final Duration LAUNCH = Patience.longBound().multipliedBy(12);

    @TempDir
    private static Path scratch;

    private static SanitizedLibrary library;

    /** Tests that run in one virtual machine. */
    enum Group {
        /** The native module's own tests, except those that check which file is loaded. */
        NATIVE("io.sluice.jni", 150, "--exclude-classname", ".*\\.(SanitizerTest|NativeLibraryTest)"),
        TCP("io.sluice.engine.transport.tcp", 500, "--exclude-tag", "soak"),
        /** Without those that send bytes beyond a region on purpose. */
        SHM(
                "io.sluice.engine.transport.shm",
                500,
                "--exclude-tag",
                "soak",
                "--exclude-classname",
                ".*\\.ShmGuardPagesTest"),
        /** On the software adapter, sanitized as well. */
        VERBS("io.sluice.engine.transport.verbs", 500, "--exclude-tag", "soak", "--include-tag", "verbs");

        private final String tests;
        private final int atLeast;
        private final List<String> filter;

        Group(String tests, int atLeast, String... filter) {
            this.tests = tests;
            this.atLeast = atLeast;
            this.filter = List.of(filter);
        }

        boolean isWanted() {
            String wanted = System.getProperty("sluice.test.sanitized", "").strip();
            return wanted.isEmpty() || Set.of(wanted.split(",")).contains(name().toLowerCase(Locale.ROOT));
        }
    }

    @BeforeAll
    static void build() throws Exception {
        library = SanitizedLibrary.build(scratch);
    }

    @Test
    void theLibraryIsTheSanitizedOne() throws Exception {
        SanitizedJvm.End end = misuse("nothing");

        assertThat(end.text())
                .contains(library.runtime().toString(), library.file().toString(), MisuseMain.UNNOTICED);
        assertThat(end.status()).isZero();
        assertThat(end.reports()).isEmpty();
    }

    @Test
    void anOverflowOfTheHeapIsNoticed() throws Exception {
        SanitizedJvm.End end = misuse("overflow");

        assertThat(end.text()).doesNotContain(MisuseMain.UNNOTICED);
        assertThat(end.status()).isNotZero();
        assertThat(end.reports())
                .singleElement()
                .asString()
                .contains("AddressSanitizer: heap-buffer-overflow", "src/main/c/core/epoll.c");
    }

    @Test
    void undefinedBehaviourIsNoticed() throws Exception {
        SanitizedJvm.End end = misuse("undefined");

        assertThat(end.text()).doesNotContain(MisuseMain.UNNOTICED);
        assertThat(end.status()).isNotZero();
        assertThat(end.reports())
                .singleElement()
                .asString()
                .contains("runtime error: ", "src/main/c/core/memory_copy.c");
    }

    @ParameterizedTest
    @EnumSource
    void theTestsPassWithoutAReport(Group group) throws Exception {
        assumeTrue(group.isWanted(), "left out by -Dsluice.test.sanitized");
        SanitizedJvm machine = new SanitizedJvm(library, emptyFolder(group.name())).options(profile(group));
        switch (group) {
            case NATIVE -> machine.classes(SanitizedLibrary.nativeClasses());
            case VERBS ->
                machine.options("-Dsluice.verbs.library=" + library.softAdapter())
                        .environment(Map.of("SOFT_ADAPTER_DEVICES", "4", "SOFT_ADAPTER_DELAY_NANOS", "20000"));
            case TCP, SHM -> {}
        }
        List<String> arguments =
                new ArrayList<>(List.of("execute", "--disable-banner", "--disable-ansi-colors", "--details=tree"));
        arguments.addAll(List.of("--config", "junit.jupiter.execution.timeout.default=10m"));
        arguments.addAll(List.of("--select-package", group.tests));
        arguments.addAll(group.filter);

        SanitizedJvm.End end = machine.run(LAUNCH, LAUNCHER, arguments);

        Map<String, Integer> counts = counts(end);
        System.out.println(
                "sanitized " + group + ": " + counts + ", " + end.reports().size() + " reports");
        assertThat(end.reports()).as("see %s", end.log()).isEmpty();
        assertThat(counts).as("see %s", end.log()).containsEntry("failed", 0);
        assertThat(end.status()).as("see %s", end.log()).isZero();
        assertThat(counts.get("successful")).as("see %s", end.log()).isGreaterThanOrEqualTo(group.atLeast);
    }

    /** The profile of the contract; on verbs the small one by default. */
    private static String profile(Group group) {
        return "-Dsluice.test.profile="
                + System.getProperty("sluice.test.sanitized-profile", group == Group.VERBS ? "small" : "standard");
    }

    private static SanitizedJvm.End misuse(String how) throws Exception {
        return new SanitizedJvm(library, emptyFolder("misuse-" + how))
                .run(Patience.longBound(), MisuseMain.class.getName(), List.of(how));
    }

    private static Map<String, Integer> counts(SanitizedJvm.End end) throws IOException {
        Map<String, Integer> counts = new TreeMap<>();
        Matcher matcher = COUNT.matcher(end.text());
        while (matcher.find()) {
            counts.put(matcher.group(2), Integer.parseInt(matcher.group(1)));
        }
        return counts;
    }

    private static Path emptyFolder(String name) throws IOException {
        Path folder = Files.createDirectories(FOLDER.resolve(name.toLowerCase(Locale.ROOT)));
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file : files.toList()) {
                Files.delete(file);
            }
        }
        return folder;
    }
}
