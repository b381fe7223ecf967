package io.sluice.samples.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ModelFileTest {
    private static final String VOCABULARY = "\n abc\"é";
    private static final ModelShape SHAPE = new ModelShape(VOCABULARY.length(), 8, 2, 2, 12, 6);

    private final Transformer model = new Transformer(SHAPE, new Parameters(SHAPE, 1));

    @TempDir
    private Path folder;

    private Path file = Path.of("");

    @BeforeEach
    void save() throws IOException {
        file = folder.resolve("model.safetensors");
        ModelFile.save(new ModelFile.Saved(model, VOCABULARY), file);
    }

    @Test
    void whatIsLoadedIsWhatWasSaved() throws IOException {
        ModelFile.Saved loaded = ModelFile.load(file);
        assertThat(loaded.vocabulary()).isEqualTo(VOCABULARY);
        assertThat(loaded.model().shape()).isEqualTo(SHAPE);
        assertThat(ModelFile.bytes(loaded)).isEqualTo(Files.readAllBytes(file));
        int[] sequence = {1, 2, 3};
        assertThat(loaded.model().next(sequence)).isEqualTo(model.next(sequence));
        try (var files = Files.list(folder)) {
            assertThat(files).containsExactly(file);
        }
    }

    @Test
    void itIsOfTheSafetensorsFormat() throws IOException {
        ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(file)).order(ByteOrder.LITTLE_ENDIAN);
        byte[] text = new byte[Math.toIntExact(bytes.getLong())];
        bytes.get(text);
        JsonNode header = new ObjectMapper().readTree(text);
        JsonNode norm = header.get("model.norm.weight");
        assertThat(norm.get("dtype").asText()).isEqualTo("F32");
        assertThat(norm.get("shape").toString()).isEqualTo("[8]");
        assertThat(header.get("model.layers.1.mlp.up_proj.weight").get("shape").toString())
                .isEqualTo("[12,8]");
        assertThat(norm.get("data_offsets").get(1).asInt()).isEqualTo(bytes.remaining());
        assertThat(bytes.getFloat(bytes.limit() - Float.BYTES)).isEqualTo(1);
        header.get("__metadata__")
                .forEach(value -> assertThat(value.isTextual()).isTrue());
    }

    @Test
    void refusesOtherFiles() throws IOException {
        byte[] whole = Files.readAllBytes(file);
        for (int length : new int[] {0, 7, 8, 20, 500, whole.length - 1}) {
            Files.write(file, Arrays.copyOf(whole, length));
            assertThatThrownBy(() -> ModelFile.load(file))
                    .as("%d bytes", length)
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("model.safetensors");
        }
        Files.writeString(file, "0123456789".repeat(100));
        assertThatThrownBy(() -> ModelFile.load(file)).isInstanceOf(IOException.class);
    }
}
