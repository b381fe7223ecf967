package io.sluice.samples.launcher;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.sluice.samples.launcher.Checkout.Launched;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The work of {@code ./sluice} around the program: it builds, asks before it installs, and leaves other processes alone. */
class LauncherTest {
    private static final int TOOL_MISSING = 69;
    private static final int BUILD_FAILED = 70;
    private static final String QUESTION = "may it? [y/N]";

    @TempDir
    Path folder;

    private Checkout checkout;

    @BeforeEach
    void makeCheckout() throws IOException {
        checkout = new Checkout(folder.resolve("a \"checkout\", it's one"), folder.resolve("tools"));
        checkout.nextBuildSays("first");
    }

    @Test
    void aBuildChangesNoJarUnderAProgramThatRuns() throws IOException, InterruptedException {
        try (Launched early = checkout.start(Map.of())) {
            early.awaitPrinted("started");
            checkout.edit();
            checkout.nextBuildSays("second");
            assertThat(say(Map.of())).contains("second");
            early.type("");
            assertThat(early.awaitEnd()).isZero();
            assertThat(early.printed()).contains("first");
        }
    }

    @Test
    void buildsThatNoProgramRunsFromAreRemoved() throws IOException, InterruptedException {
        try (Launched early = checkout.start(Map.of())) {
            early.awaitPrinted("started");
            checkout.edit();
            say(Map.of());
            checkout.edit();
            say(Map.of());
            assertThat(checkout.keptBuilds()).isEqualTo(2);
            early.type("");
            early.awaitEnd();
        }
        checkout.edit();
        say(Map.of());
        assertThat(checkout.keptBuilds()).isEqualTo(1);
    }

    @ParameterizedTest
    @Tag("soak")
    @ValueSource(strings = {"< /dev/null", "2> /dev/null"})
    void atATerminalOfAnInputOrOutputItAsksBeforeItInstalls(String redirections)
            throws IOException, InterruptedException {
        atATerminalItAsksBeforeItInstalls(redirections);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "> output.txt 2>&1"})
    void atATerminalItAsksBeforeItInstalls(String redirections) throws IOException, InterruptedException {
        assumeRoot();
        assumeTerminal();
        try (Launched refused = checkout.startAtTerminal(redirections, checkout.withoutCompiler())) {
            refused.awaitPrinted(QUESTION);
            assertThat(refused.printed())
                    .contains("apt-get update && apt-get install -y --no-install-recommends gcc libc6-dev");
            assertThat(checkout.callsOfAptGet()).isEmpty();
            refused.type("n");
            assertThat(refused.awaitEnd()).isEqualTo(TOOL_MISSING);
            assertThat(checkout.callsOfAptGet()).isEmpty();
        }
        try (Launched allowed = checkout.startAtTerminal(redirections, checkout.withoutCompiler())) {
            allowed.awaitPrinted(QUESTION);
            allowed.type("y");
            allowed.type("");
            assertThat(allowed.awaitEnd()).isZero();
        }
        assertThat(checkout.callsOfAptGet())
                .contains("install -y --no-install-recommends gcc libc6-dev libibverbs-dev");
    }

    @Test
    void aTerminalThatIsNotItsOwnIsAskedAsWell() throws IOException, InterruptedException {
        assumeRoot();
        assumeTerminal();
        try (Launched refused = checkout.startAtForeignTerminal(checkout.withoutCompiler())) {
            refused.awaitPrinted(QUESTION);
            refused.type("n");
            assertThat(refused.awaitEnd()).isEqualTo(TOOL_MISSING);
            assertThat(checkout.callsOfAptGet()).isEmpty();
        }
    }

    @Test
    void aQuestionForAComparisonShowsAllThatIsRun() throws IOException, InterruptedException {
        assumeRoot();
        assumeTerminal();
        assumeNoIperf();
        try (Launched asked = checkout.startAtTerminal("compare", "", Map.of())) {
            asked.awaitPrinted(QUESTION);
            assertThat(asked.printed())
                    .contains("apt-get update && apt-get install")
                    .contains("iperf3");
            asked.type("y");
            asked.type("");
            assertThat(asked.awaitEnd()).isZero();
        }
        assertThat(checkout.callsOfAptGet()).startsWith("update");
    }

    @ParameterizedTest
    @Tag("soak")
    @ValueSource(strings = {"SLUICE_NOINSTALL", "SLUICE_JAVA_OPTS", "SLUICE_JAVAHOME"})
    void otherMisspeltVariablesOfTheLauncherAreWarnedOf(String name) throws IOException, InterruptedException {
        aMisspeltVariableOfTheLauncherIsWarnedOf(name);
    }

    @ParameterizedTest
    @ValueSource(strings = "SLUICE_NO_INSTAL")
    void aMisspeltVariableOfTheLauncherIsWarnedOf(String name) throws IOException, InterruptedException {
        assertThat(say(Map.of(name, "1"))).contains("the environment variable " + name + " is not known");
    }

    @Test
    void variablesThatAreKnownAreNotWarnedOf() throws IOException, InterruptedException {
        assertThat(say(Map.of("SLUICE_NO_INSTALL", "1", "SLUICE_NOTIFICATION_CREDITS", "8", "SLUICE_INTEGRITY", "crc")))
                .doesNotContain("is not known");
    }

    @Test
    void withoutATerminalItInstallsAsItIs() throws IOException, InterruptedException {
        assumeRoot();
        assertThat(say(checkout.withoutCompiler())).contains("first").doesNotContain(QUESTION);
        assertThat(checkout.callsOfAptGet())
                .contains("install -y --no-install-recommends gcc libc6-dev libibverbs-dev");
    }

    /** A comparison leaves out the programs that are missing, and does not change the machine unasked. */
    @Test
    void withoutATerminalNothingIsInstalledForAComparison() throws IOException, InterruptedException {
        assumeRoot();
        assumeNoIperf();
        assertThat(say("compare", Map.of())).contains("first").doesNotContain(QUESTION);
        assertThat(checkout.callsOfAptGet()).isEmpty();
        say("compare", Map.of("CI", "true"));
        assertThat(checkout.callsOfAptGet())
                .anySatisfy(call -> assertThat(call).startsWith("install").contains("iperf3"));
    }

    @Test
    void whereItMayNotInstallItDoesNotAsk() throws IOException, InterruptedException {
        assumeTerminal();
        Map<String, String> environment = new HashMap<>(checkout.withoutCompiler());
        environment.put("SLUICE_NO_INSTALL", "1");
        try (Launched refused = checkout.startAtTerminal("", environment)) {
            assertThat(refused.awaitEnd()).isEqualTo(TOOL_MISSING);
            assertThat(refused.printed())
                    .contains("As root: apt-get install -y")
                    .doesNotContain(QUESTION);
        }
        assertThat(checkout.callsOfAptGet()).isEmpty();
    }

    /** {@link LocaleTest} does the same with a smaller program. */
    @ParameterizedTest
    @Tag("soak")
    @ValueSource(strings = {"C", "POSIX", "C.UTF-8", "xx_XX.UTF-8", ""})
    void aFileWhoseNameIsNotAsciiIsFoundInAnyLocale(String locale) throws IOException, InterruptedException {
        try (Launched program = checkout.startWithFile(locale)) {
            program.awaitPrinted("there: ");
            program.type("");
            assertThat(program.awaitEnd()).as(program.printed()).isZero();
            assertThat(program.printed()).contains("there: true");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"a:b", "a$b"})
    void aFolderThatCannotBeBuiltInIsRefusedAtOnce(String name) throws IOException, InterruptedException {
        Checkout other = new Checkout(folder.resolve(name), folder.resolve("other-tools"));
        try (Launched refused = other.start(Map.of())) {
            assertThat(refused.awaitEnd()).isEqualTo(BUILD_FAILED);
            assertThat(refused.printed()).contains(name).contains("move or rename it");
        }
        assertThat(folder.resolve(name).resolve("samples/target")).doesNotExist();
    }

    /** Runs it to its end. */
    private String say(Map<String, String> environment) throws IOException, InterruptedException {
        return say("command", environment);
    }

    private String say(String command, Map<String, String> environment) throws IOException, InterruptedException {
        try (Launched program = checkout.start(command, environment)) {
            program.awaitPrinted("started");
            program.type("");
            assertThat(program.awaitEnd()).as(program.printed()).isZero();
            return program.printed();
        }
    }

    private static void assumeRoot() {
        assumeTrue("root".equals(System.getProperty("user.name")), "only root installs packages");
    }

    private static void assumeNoIperf() {
        assumeTrue(
                Stream.of(System.getenv("PATH").split(":"))
                        .noneMatch(each -> Files.isExecutable(Path.of(each, "iperf3"))),
                "iperf3 is installed");
    }

    private static void assumeTerminal() {
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/script")), "no program that makes a terminal: bsdutils");
    }
}
