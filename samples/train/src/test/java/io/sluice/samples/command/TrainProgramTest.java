package io.sluice.samples.command;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The training as its users run it. */
class TrainProgramTest {
    @TempDir
    private Path folder;

    @Test
    void trainsSavesAndLoads() throws IOException {
        Path model = folder.resolve("model.safetensors");
        JsonNode trained = train("--steps", "12", "--save", model.toString());
        assertThat(trained.get("losses")).hasSize(12);
        assertThat(trained.get("losses").get(11).asDouble())
                .isLessThan(trained.get("losses").get(0).asDouble());
        assertThat(trained.get("text").asText()).hasSizeGreaterThan(300).startsWith("It is ");
        assertThat(Files.size(model)).isGreaterThan(trained.get("parameters").asLong() * Float.BYTES);

        JsonNode measured = train("--steps", "0", "--load", model.toString());
        assertThat(measured.get("sha256")).isEqualTo(trained.get("sha256"));
        assertThat(measured.get("held_out_loss")).isEqualTo(trained.get("held_out_loss"));
        assertThat(measured.get("text")).isEqualTo(trained.get("text"));
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

    @Test
    void saysWhatMakesNoSense() throws IOException {
        try (SluiceProcess training = SluiceProcess.run(folder, "train", "--steps", "0")) {
            assertThat(training.awaitEnd()).isEqualTo(ExitCodes.USAGE);
            assertThat(training.err()).contains("give --load");
        }
    }
}
