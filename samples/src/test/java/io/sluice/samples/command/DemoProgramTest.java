package io.sluice.samples.command;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The demo command as its users run it: two processes. */
class DemoProgramTest {

    @TempDir
    private Path folder;

    @Test
    @Tag("soak")
    void takesShmByItself() throws IOException {
        tellsHowFastTheWritesAloneWereOver("shm", List.of());
    }

    @Test
    @Tag("soak")
    void takesWhatItIsTold() throws IOException {
        tellsHowFastTheWritesAloneWereOver("tcp", List.of("--transport", "tcp"));
    }

    private void tellsHowFastTheWritesAloneWereOver(String transport, List<String> options) throws IOException {
        Path json = folder.resolve("out.json");
        List<String> arguments =
                new ArrayList<>(List.of("demo", "--duration", BenchProgramTest.millis(100), "--json", json.toString()));
        arguments.addAll(options);
        try (SluiceProcess demo = SluiceProcess.run(folder, arguments.toArray(String[]::new))) {
            assertThat(demo.awaitEnd()).as(demo::toString).isZero();
            JsonNode summary = SluiceProcess.json(json);
            assertThat(summary.get("transport").asText()).isEqualTo(transport);
            assertThat(summary.get("corrupted_pages").asLong(-1)).isZero();
            assertThat(summary.get("bytes").asLong()).isPositive();
            double seconds = summary.get("write_seconds").asDouble();
            assertThat(seconds).isPositive().isLessThan(summary.get("seconds").asDouble());
            assertThat(summary.get("write_gigabytes_per_second").asDouble())
                    .isEqualTo(summary.get("bytes").asLong() / seconds / 1e9);
            assertThat(demo.out())
                    .contains(String.format(
                            Locale.ROOT,
                            "The writes alone, over %s: %.3f GB/s (",
                            transport,
                            summary.get("write_gigabytes_per_second").asDouble()))
                    .contains(
                            "transport            " + transport,
                            "stood\nstill while prefill filled",
                            "--transport NAME");
        }
    }
}
