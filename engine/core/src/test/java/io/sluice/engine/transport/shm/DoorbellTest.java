package io.sluice.engine.transport.shm;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.testkit.Patience;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * One end of a direction falls asleep at the very moment at which the other has something for it: at least one of them must
 * see the other. A processor that lets a read overtake a write before it makes both look away. Only what the compiler for hot
 * code makes lets it do so; to the other one each ordered write is a fence. So it happens in a process of its own.
 */
class DoorbellTest {
    private static final boolean SOAK =
            System.getProperty("sluice.test.profile", "").equals("soak");
    private static final int ENOUGH = SOAK ? 2_000_000 : 20_000;
    private static final int LONGEST_MILLIS = SOAK ? 20_000 : 2_000;

    @ParameterizedTest
    @EnumSource
    void whoFallsAsleepIsWokenOrSeesWhatHasCome(SleepersAndWakers.Meeting meeting) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                ProcessHandle.current().info().command().orElseThrow(),
                "-Xmx128m",
                "-XX:+UseSerialGC",
                "-XX:-UsePerfData",
                "-XX:-TieredCompilation",
                "-Xbatch",
                "--enable-native-access=ALL-UNNAMED"));
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), SleepersAndWakers.class.getName()));
        command.addAll(List.of(meeting.name(), String.valueOf(ENOUGH), String.valueOf(LONGEST_MILLIS)));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        try {
            // its few lines do not fill the pipe
            int exit = Patience.exit(process);
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertThat(exit).as("its status; its output: %s", output).isZero();
            assertThat(output)
                    .as("in how many rounds neither saw the other, of how many")
                    .containsPattern("(?m)^" + SleepersAndWakers.ANSWER + "0 ");
        } finally {
            process.destroyForcibly();
        }
    }
}
