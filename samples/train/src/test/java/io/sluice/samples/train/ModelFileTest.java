package io.sluice.samples.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.sluice.fuzz.ParserFuzz;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

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

    /** A file that says another size of the model than that of what it has. */
    private static byte[] withSize(byte[] whole, String name, String value) throws IOException {
        ByteBuffer bytes = ByteBuffer.wrap(whole).order(ByteOrder.LITTLE_ENDIAN);
        byte[] text = new byte[Math.toIntExact(bytes.getLong())];
        bytes.get(text);
        ObjectMapper json = new ObjectMapper();
        ObjectNode header = (ObjectNode) json.readTree(text);
        ((ObjectNode) header.get("__metadata__")).put(name, value);
        byte[] other = json.writeValueAsBytes(header);
        return ByteBuffer.allocate(Long.BYTES + other.length + bytes.remaining())
                .order(ByteOrder.LITTLE_ENDIAN)
                .putLong(other.length)
                .put(other)
                .put(bytes)
                .array();
    }

    @ParameterizedTest
    @ValueSource(strings = {"width", "layers", "heads", "hidden", "context"})
    void sizesThatTheFileDoesNotHaveTakeNoMemory(String name) throws IOException {
        byte[] whole = Files.readAllBytes(file);
        for (String value : List.of("-2147483648", "-1", "0", "", "1000000", "536870912", "2147483646", "2147483647")) {
            byte[] other = withSize(whole, name, value);
            assertThatThrownBy(() -> ModelFile.read(other, file))
                    .as("%s %s", name, value)
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("model.safetensors");
        }
    }

    @Test
    void damagedFilesAreRefused() throws IOException {
        byte[] whole = Files.readAllBytes(file);
        ParserFuzz.of("model-file")
                .valid(whole, withSize(whole, "context", "7"), withSize(whole, "heads", "1"))
                .refusesBy(UncheckedIOException.class)
                // of the parser of JSON, and of the model's angles
                .having(6 << 20)
                .inputs(3_000)
                .run(input -> {
                    try {
                        ModelFile.Saved read = ModelFile.read(input, file);
                        assertThat(read.model().shape().vocabulary())
                                .isEqualTo(read.vocabulary().length());
                    } catch (IOException refused) {
                        UncheckedIOException told = new UncheckedIOException(refused);
                        Throwable cause = refused.getCause();
                        // inputs that are refused elsewhere are tried more
                        told.setStackTrace((cause == null ? refused : cause).getStackTrace());
                        throw told;
                    }
                });
    }
}
