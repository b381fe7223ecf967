package io.sluice.samples.train;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Map;

/**
 * A model in the safetensors format: the length of a header in 8 bytes, the header, a JSON object that says where each
 * parameter lies, and all parameters as 32-bit floats, all little-endian. Its metadata has the sizes of the model and its
 * vocabulary.
 */
final class ModelFile {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int LONGEST_HEADER = 1 << 20;
    // some hundred times the largest model that can be trained
    private static final long LARGEST_FILE = 1L << 29;
    // of what a model computes from its sizes alone
    private static final long MOST_ANGLES_BYTES = 1 << 20;

    private ModelFile() {}

    /**
     * What a file has.
     *
     * @param vocabulary the characters in the order of their numbers
     */
    record Saved(Transformer model, String vocabulary) {}

    /** Replaces a file, or makes it, in one step. */
    static void save(Saved saved, Path file) throws IOException {
        Path part = file.resolveSibling("." + file.getFileName() + ".part");
        Files.write(part, bytes(saved));
        Files.move(part, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }

    /** All that a file of it has. */
    static byte[] bytes(Saved saved) {
        ObjectNode header = JSON.createObjectNode();
        ModelShape shape = saved.model().shape();
        header.putObject("__metadata__")
                .put("vocabulary", saved.vocabulary())
                .put("width", Integer.toString(shape.width()))
                .put("layers", Integer.toString(shape.layers()))
                .put("heads", Integer.toString(shape.heads()))
                .put("hidden", Integer.toString(shape.hidden()))
                .put("context", Integer.toString(shape.context()));
        Map<String, Matrix> parameters = saved.model().parameters().all();
        long start = 0;
        for (Map.Entry<String, Matrix> each : parameters.entrySet()) {
            Matrix matrix = each.getValue();
            long end = start + (long) matrix.rows() * matrix.columns() * Float.BYTES;
            ObjectNode place = header.putObject(each.getKey()).put("dtype", "F32");
            if (matrix.rows() == 1) {
                place.putArray("shape").add(matrix.columns());
            } else {
                place.putArray("shape").add(matrix.rows()).add(matrix.columns());
            }
            place.putArray("data_offsets").add(start).add(end);
            start = end;
        }
        byte[] text = header.toString().getBytes(StandardCharsets.UTF_8);
        ByteBuffer bytes = ByteBuffer.allocate(Math.toIntExact(Long.BYTES + text.length + start))
                .order(ByteOrder.LITTLE_ENDIAN)
                .putLong(text.length)
                .put(text);
        for (Matrix matrix : parameters.values()) {
            for (float[] row : matrix.values()) {
                for (float value : row) {
                    bytes.putFloat(value);
                }
            }
        }
        return bytes.array();
    }

    /**
     * Reads a file.
     *
     * @throws IOException if it cannot be read, or has no model of this kind
     */
    static Saved load(Path file) throws IOException {
        long size = Files.size(file);
        if (size > LARGEST_FILE) {
            throw new IOException(file + " has " + size + " bytes, more than any model that this program has written");
        }
        return read(Files.readAllBytes(file), file);
    }

    /** Reads what a file has. What is allocated is in proportion to its length. */
    static Saved read(byte[] all, Path file) throws IOException {
        ByteBuffer bytes = ByteBuffer.wrap(all).order(ByteOrder.LITTLE_ENDIAN);
        long length = bytes.remaining() < Long.BYTES ? 0 : bytes.getLong();
        if (length < 2 || length > Math.min(LONGEST_HEADER, bytes.remaining())) {
            throw new IOException(file + " is no file of the safetensors format");
        }
        byte[] text = new byte[(int) length];
        bytes.get(text);
        try {
            JsonNode header = JSON.readTree(new String(text, StandardCharsets.UTF_8));
            JsonNode metadata = header.path("__metadata__");
            String vocabulary = metadata.path("vocabulary").asText();
            ModelShape shape = new ModelShape(
                    vocabulary.length(),
                    metadata.path("width").asInt(),
                    metadata.path("layers").asInt(),
                    metadata.path("heads").asInt(),
                    metadata.path("hidden").asInt(),
                    metadata.path("context").asInt());
            checkLength(shape, bytes.remaining());
            Parameters parameters = new Parameters(shape, 0);
            for (Map.Entry<String, Matrix> each : parameters.all().entrySet()) {
                read(bytes.slice(), header.path(each.getKey()), each.getValue());
            }
            return new Saved(new Transformer(shape, parameters), vocabulary);
        } catch (JsonProcessingException | IllegalArgumentException e) {
            throw new IOException(file + " has no model that this program has written: " + e.getMessage(), e);
        }
    }

    /** The sizes may say anything: memory is allocated for what the file has. */
    private static void checkLength(ModelShape shape, long bytes) {
        long width = shape.width();
        if (width < 2 || width * shape.context() * Float.BYTES > MOST_ANGLES_BYTES + bytes) {
            throw new IllegalArgumentException("no file of this length has a model of these sizes: " + shape);
        }
        try {
            // each row is as long as the model is wide; of the last matrix of a layer each column is
            long rows = Math.addExact(
                    Math.multiplyExact((long) shape.layers(), 4 * width + 3L * shape.hidden() + 2),
                    shape.vocabulary() + 1L);
            if (Math.multiplyExact(Math.multiplyExact(rows, width), Float.BYTES) != bytes) {
                throw new IllegalArgumentException(
                        "parameters of " + bytes + " bytes, and sizes for other ones: " + shape);
            }
        } catch (ArithmeticException e) {
            throw new IllegalArgumentException("no file has a model of these sizes: " + shape, e);
        }
    }

    private static void read(ByteBuffer data, JsonNode place, Matrix matrix) {
        long start = place.path("data_offsets").path(0).asLong(-1);
        long size = (long) matrix.rows() * matrix.columns() * Float.BYTES;
        boolean fits = place.path("dtype").asText().equals("F32")
                && start >= 0
                && start <= data.limit() - size
                && place.path("data_offsets").path(1).asLong() == start + size;
        if (!fits) {
            throw new IllegalArgumentException("a parameter of another size or type, or none");
        }
        ByteBuffer floats = data.order(ByteOrder.LITTLE_ENDIAN).position((int) start);
        for (float[] row : matrix.values()) {
            for (int i = 0; i < row.length; i++) {
                row[i] = floats.getFloat();
            }
        }
    }
}
