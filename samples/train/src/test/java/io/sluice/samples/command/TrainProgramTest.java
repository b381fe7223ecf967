package io.sluice.samples.command;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The training as its users run it. */
class TrainProgramTest {
    private static final String STEPS = "soak".equals(System.getProperty("sluice.test.profile")) ? "12" : "5";

    @TempDir
    private Path folder;

    @Test
    @Tag("soak")
    void ranksTogetherSaveTheModelOfOneProcess() throws IOException {
        Path model = folder.resolve("model.safetensors");
        JsonNode together = train("--steps", STEPS, "--ranks", "2", "--save", model.toString());
        assertThat(together.get("ranks_left").asInt()).isEqualTo(2);
        assertThat(together.get("losses")).hasSize(Integer.parseInt(STEPS));
        assertThat(together.get("losses").get(Integer.parseInt(STEPS) - 1).asDouble())
                .isLessThan(together.get("losses").get(0).asDouble());
        assertThat(together.get("text").asText()).hasSizeGreaterThan(300).startsWith("It is ");
        assertThat(Files.size(model)).isGreaterThan(together.get("parameters").asLong() * Float.BYTES);

        isTheSame(trainAlone("--steps", STEPS, "--shards", "2"), together);
        isTheSame(trainAlone("--steps", "0", "--load", model.toString()), together);
    }

    @Test
    void whenOneIsKilledTheOthersTrainTheSameModel() throws IOException {
        JsonNode left = train("--steps", STEPS, "--ranks", "3", "--kill", "3", "--transport", "tcp");
        assertThat(left.get("ranks").asInt()).isEqualTo(3);
        assertThat(left.get("ranks_left").asInt()).isEqualTo(2);
        JsonNode alone = trainAlone("--steps", STEPS, "--shards", "3");
        isTheSame(alone, left);
        assertThat(left.get("losses")).isEqualTo(alone.get("losses"));
    }

    private static void isTheSame(JsonNode model, JsonNode expected) {
        for (String field : List.of("sha256", "held_out_loss", "text")) {
            assertThat(model.get(field)).as(field).isEqualTo(expected.get(field));
        }
    }

    @Test
    @Tag("soak")
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
        try (SluiceProcess training = SluiceProcess.run(folder, arguments(options))) {
            assertThat(training.awaitEnd()).as(training::toString).isZero();
            return summary(training.out());
        }
    }

    /** One rank, which starts no other process. */
    private JsonNode trainAlone(String... options) throws IOException {
        List<String> arguments = new ArrayList<>(List.of(arguments(options)));
        arguments.addAll(List.of("--ranks", "1"));
        ProgramRun training = ProgramRun.of(arguments.toArray(String[]::new));
        assertThat(training.status()).as(training::toString).isZero();
        return summary(training.out());
    }

    private String[] arguments(String... options) {
        List<String> arguments = new ArrayList<>(List.of(
                "train", "--model", "tiny", "--json", folder.resolve("out.json").toString()));
        arguments.addAll(List.of(options));
        return arguments.toArray(String[]::new);
    }

    private JsonNode summary(String printed) throws IOException {
        JsonNode summary = SluiceProcess.json(folder.resolve("out.json"));
        assertThat(printed)
                .contains("the model has a loss of ", summary.get("text").asText());
        return summary;
    }

    @ParameterizedTest
    @CsvSource({
        "--steps 0, give --load",
        "--ranks 3 --shards 2, --shards",
        "--steps 5 --kill 6, a step from 2 to the last one"
    })
    void saysWhatMakesNoSense(String options, String said) {
        List<String> arguments = new ArrayList<>(List.of("train"));
        arguments.addAll(List.of(options.split(" ")));
        ProgramRun training = ProgramRun.of(arguments.toArray(String[]::new));
        assertThat(training.status()).isEqualTo(ExitCodes.USAGE);
        assertThat(training.err()).contains(said);
    }
}
