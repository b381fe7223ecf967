package io.sluice.samples.command;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The mixture of experts as its users run it. */
class ExpertsProgramTest {
    private static final int STEPS = "soak".equals(System.getProperty("sluice.test.profile")) ? 25 : 16;

    @TempDir
    private Path folder;

    @Test
    @Tag("soak")
    void expertsOnTwoRanksMakeTheSameOfTheText() throws IOException {
        JsonNode together = train("--ranks", "2");
        assertThat(together.get("ranks_left").asInt()).isEqualTo(2);
        isTheSame(together, trainAlone());
    }

    @Test
    void expertsOnThreeRanksOfWhichOneIsLostMakeTheSameOfTheText() throws IOException {
        JsonNode alone = trainAlone();
        assertThat(alone.get("losses")).hasSize(STEPS);
        assertThat(alone.get("losses").get(STEPS - 1).asDouble())
                .isLessThan(alone.get("losses").get(0).asDouble() - 0.5);

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
        try (SluiceProcess training = SluiceProcess.run(folder, arguments(options))) {
            assertThat(training.awaitEnd()).as(training::toString).isZero();
            return summary(training.out());
        }
    }

    /** One rank, which starts no other process. */
    private JsonNode trainAlone() throws IOException {
        ProgramRun training = ProgramRun.of(arguments("--ranks", "1"));
        assertThat(training.status()).as(training::toString).isZero();
        return summary(training.out());
    }

    private String[] arguments(String... options) {
        List<String> arguments = new ArrayList<>(List.of("experts", "--steps", Integer.toString(STEPS)));
        arguments.addAll(
                List.of("--experts", "7", "--json", folder.resolve("out.json").toString()));
        arguments.addAll(List.of(options));
        return arguments.toArray(String[]::new);
    }

    private JsonNode summary(String printed) throws IOException {
        JsonNode summary = SluiceProcess.json(folder.resolve("out.json"));
        assertThat(printed).contains(summary.get("sha256").asText());
        return summary;
    }

    @ParameterizedTest
    @CsvSource({
        "--steps 0, --steps",
        "--ranks 3 --experts 2, --experts",
        "--ranks 1 --kill 2, --ranks 2 or more",
        "--steps 5 --kill 6, a step from 2 to the last one"
    })
    void saysWhatMakesNoSense(String options, String said) {
        List<String> arguments = new ArrayList<>(List.of("experts"));
        arguments.addAll(List.of(options.split(" ")));
        ProgramRun training = ProgramRun.of(arguments.toArray(String[]::new));
        assertThat(training.status()).isEqualTo(ExitCodes.USAGE);
        assertThat(training.err()).contains(said);
    }
}
