package io.sluice.samples.command;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The mixture of experts as its users run it. */
class ExpertsProgramTest {
    @TempDir
    private Path folder;

    @Test
    void expertsOnAnyNumberOfRanksMakeTheSameOfTheText() throws IOException {
        JsonNode alone = train("--ranks", "1");
        assertThat(alone.get("losses")).hasSize(25);
        assertThat(alone.get("losses").get(24).asDouble())
                .isLessThan(alone.get("losses").get(0).asDouble() - 0.5);

        JsonNode together = train("--ranks", "2");
        assertThat(together.get("ranks_left").asInt()).isEqualTo(2);
        isTheSame(together, alone);

        // the last of three ranks is lost, after the copy of step 10; two ranks divide seven experts unevenly
        JsonNode left = train("--ranks", "3", "--kill", "14", "--transport", "tcp");
        assertThat(left.get("ranks_left").asInt()).isEqualTo(2);
        isTheSame(left, alone);
    }

    private static void isTheSame(JsonNode found, JsonNode expected) {
        for (String field : List.of("sha256", "held_out_loss", "losses")) {
            assertThat(found.get(field)).as(field).isEqualTo(expected.get(field));
        }
    }

    private JsonNode train(String... options) throws IOException {
        Path json = folder.resolve("out.json");
        List<String> arguments =
                new ArrayList<>(List.of("experts", "--steps", "25", "--experts", "7", "--json", json.toString()));
        arguments.addAll(List.of(options));
        try (SluiceProcess training = SluiceProcess.run(folder, arguments.toArray(String[]::new))) {
            assertThat(training.awaitEnd()).as(training::toString).isZero();
            JsonNode summary = SluiceProcess.json(json);
            assertThat(training.out()).contains(summary.get("sha256").asText());
            return summary;
        }
    }

    @ParameterizedTest
    @CsvSource({
        "--steps 0, --steps",
        "--ranks 3 --experts 2, --experts",
        "--ranks 1 --kill 2, --ranks 2 or more",
        "--steps 5 --kill 6, a step from 2 to the last one"
    })
    void saysWhatMakesNoSense(String options, String said) throws IOException {
        List<String> arguments = new ArrayList<>(List.of("experts"));
        arguments.addAll(List.of(options.split(" ")));
        try (SluiceProcess training = SluiceProcess.run(folder, arguments.toArray(String[]::new))) {
            assertThat(training.awaitEnd()).isEqualTo(ExitCodes.USAGE);
            assertThat(training.err()).contains(said);
        }
    }
}
