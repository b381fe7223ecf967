package io.sluice.samples.compare;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.testkit.Patience;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ToolProcessTest {
    private static final Duration SOME = Duration.ofMillis(50);

    /** The sum over those that live would shrink, and a use of processors come out negative. */
    @Test
    void processorTimeOfAChildThatHasEndedStays(@TempDir Path folder) throws Exception {
        Path go = folder.resolve("go");
        Path begun = folder.resolve("begun");
        String busy = "(touch '" + begun + "'; while [ ! -e '" + go + "' ]; do :; done); touch '"
                + folder.resolve("ended") + "'; sleep 600";
        try (ToolProcess process = ToolProcess.start(folder, Map.of(), Patience.BOUND, List.of("sh", "-c", busy))) {
            // children that start after some looks are not found
            Patience.until("the child runs", () -> Files.exists(begun));
            Patience.until(
                    "the child has used its processor",
                    () -> process.processorTime().compareTo(SOME) > 0);
            Duration seen = process.processorTime();
            Files.createFile(go);
            Patience.until("the child has ended", () -> Files.exists(folder.resolve("ended")));
            assertThat(process.processorTime()).isGreaterThanOrEqualTo(seen);
        }
    }
}
