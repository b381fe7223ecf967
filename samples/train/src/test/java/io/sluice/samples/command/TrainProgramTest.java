package io.sluice.samples.command;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The training as its users run it. */
class TrainProgramTest {
    @TempDir
    private Path folder;

    @Test
    void ranksTogetherSaveTheModelOfOneProcess() throws IOException {
        Path model = folder.resolve("model.safetensors");
        JsonNode together = train("--steps", "12", "--ranks", "2", "--save", model.toString());
        assertThat(together.get("ranks_left").asInt()).isEqualTo(2);
        assertThat(together.get("losses")).hasSize(12);
        assertThat(together.get("losses").get(11).asDouble())
                .isLessThan(together.get("losses").get(0).asDouble());
        assertThat(together.get("text").asText()).hasSizeGreaterThan(300).startsWith("It is ");
        assertThat(Files.size(model)).isGreaterThan(together.get("parameters").asLong() * Float.BYTES);

        isTheSame(train("--steps", "12", "--ranks", "1", "--shards", "2"), together);
        isTheSame(train("--steps", "0", "--ranks", "1", "--load", model.toString()), together);
    }

    @Test
    void whenOneIsKilledTheOthersTrainTheSameModel() throws IOException {
        JsonNode left = train("--steps", "12", "--ranks", "3", "--kill", "5", "--transport", "tcp");
        assertThat(left.get("ranks").asInt()).isEqualTo(3);
        assertThat(left.get("ranks_left").asInt()).isEqualTo(2);
        JsonNode alone = train("--steps", "12", "--ranks", "1", "--shards", "3");
        isTheSame(alone, left);
        assertThat(left.get("losses")).isEqualTo(alone.get("losses"));
    }

    private static void isTheSame(JsonNode model, JsonNode expected) {
        for (String field : List.of("sha256", "held_out_loss", "text")) {
            assertThat(model.get(field)).as(field).isEqualTo(expected.get(field));
        }
    }

    @Test
    void endsAllItsProcessesWhenItIsInterrupted() throws IOException {
        try (SluiceProcess training =
                SluiceProcess.start(folder, "train", "--model", "tiny", "--steps", "100000", "--ranks", "2")) {
            ProcessHandle other = training.awaitChild();
            Awaitility.await()
                    .atMost(SluiceProcess.BOUND)
                    .until(() -> training.out().contains("      1    "));
            training.signal("INT");
            assertThat(training.awaitEnd()).as(training::toString).isEqualTo(130);
            Awaitility.await().atMost(SluiceProcess.BOUND).until(() -> !other.isAlive());
        }
    }

    private JsonNode train(String... options) throws IOException {
        Path json = folder.resolve("out.json");
        List<String> arguments = new ArrayList<>(List.of("train", "--model", "tiny", "--json", json.toString()));
        arguments.addAll(List.of(options));
        try (SluiceProcess training = SluiceProcess.run(folder, arguments.toArray(String[]::new))) {
            assertThat(training.awaitEnd()).as(training::toString).isZero();
            JsonNode summary = SluiceProcess.json(json);
            assertThat(training.out())
                    .contains("the model has a loss of ", summary.get("text").asText());
            return summary;
        }
    }

    @ParameterizedTest
    @CsvSource({
        "--steps 0, give --load",
        "--ranks 3 --shards 2, --shards",
        "--steps 5 --kill 6, a step from 2 to the last one"
    })
    void saysWhatMakesNoSense(String options, String said) throws IOException {
        List<String> arguments = new ArrayList<>(List.of("train"));
        arguments.addAll(List.of(options.split(" ")));
        try (SluiceProcess training = SluiceProcess.run(folder, arguments.toArray(String[]::new))) {
            assertThat(training.awaitEnd()).isEqualTo(ExitCodes.USAGE);
            assertThat(training.err()).contains(said);
        }
    }
}
