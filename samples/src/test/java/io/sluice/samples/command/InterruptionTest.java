package io.sluice.samples.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** However a replay ends, both of its processes do. */
class InterruptionTest {

    @TempDir
    private Path folder;

    @Test
    void sigintEndsBothWithAPartialSummary() throws IOException {
        try (SluiceProcess replay = startReplay()) {
            ProcessHandle decode = replay.awaitChild();
            await().atMost(SluiceProcess.BOUND).until(() -> replay.err().contains(" requests, "));
            replay.signal("INT");
            assertThat(replay.awaitEnd()).as(replay::toString).isEqualTo(130);
            assertGone(decode);
            assertThat(replay.out()).contains("Interrupted", "(interrupted)", "corrupted pages      0");
            // a machine with no processor to spare is not what is looked for here
            assertThat(replay.err().lines().filter(line -> !line.contains("was held up for")))
                    .noneMatch(line -> line.contains("WARN") || line.contains("ERROR") || line.contains("Exception"));
            assertThat(SluiceProcess.json(folder.resolve("out.json"))
                            .get("interrupted")
                            .asBoolean())
                    .isTrue();
        }
    }

    @Test
    @Tag("soak")
    void sigtermWhileStartingEndsBoth() throws IOException {
        try (SluiceProcess replay = startReplay()) {
            ProcessHandle decode = replay.awaitChild();
            replay.signal("TERM");
            assertThat(replay.awaitEnd()).as(replay::toString).isEqualTo(143);
            assertGone(decode);
        }
    }

    @Test
    @Tag("soak")
    void aKilledReplayLeavesNoOrphan() throws IOException {
        try (SluiceProcess replay = startReplay()) {
            ProcessHandle decode = replay.awaitChild();
            replay.signal("KILL");
            replay.awaitEnd();
            assertGone(decode);
        }
    }

    @Test
    void aKilledDecodeProcessEndsTheReplay() throws IOException {
        try (SluiceProcess replay = startReplay()) {
            ProcessHandle decode = replay.awaitChild();
            await().atMost(SluiceProcess.BOUND).until(() -> replay.err().contains(" requests, "));
            decode.destroyForcibly();
            assertThat(replay.awaitEnd()).as(replay::toString).isEqualTo(ExitCodes.FAILED);
            assertThat(replay.err())
                    .contains("the decode process ended with status 137")
                    .doesNotContain("\tat ");
        }
    }

    private SluiceProcess startReplay() throws IOException {
        return SluiceProcess.start(
                folder,
                "replay",
                "--duration",
                "5m",
                "--pool",
                "256MiB",
                "--json",
                folder.resolve("out.json").toString());
    }

    private static void assertGone(ProcessHandle process) {
        assertThat(process.onExit().orTimeout(SluiceProcess.BOUND.toNanos(), TimeUnit.NANOSECONDS))
                .succeedsWithin(SluiceProcess.BOUND);
    }
}
