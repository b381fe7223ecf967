package io.sluice.samples.train;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/**
 * All parameters of a model in a fixed order, with their gradients. A vector is a matrix of one row. Their names are those of
 * other programs for models of Llama's architecture.
 */
final class Parameters {
    /** Floats have this layout in memory that others see, too. */
    static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private final Map<String, Matrix> byName = new LinkedHashMap<>();

    /** Values to begin with: small random ones, and ones in the norms. */
    Parameters(ModelShape shape, long seed) {
        int width = shape.width();
        SplittableRandom random = new SplittableRandom(seed);
        addMatrix("model.embed_tokens", shape.vocabulary(), width, random);
        for (int layer = 0; layer < shape.layers(); layer++) {
            String prefix = "model.layers." + layer + ".";
            addNorm(prefix + "input_layernorm", width);
            for (String part : List.of("q_proj", "k_proj", "v_proj", "o_proj")) {
                addMatrix(prefix + "self_attn." + part, width, width, random);
            }
            addNorm(prefix + "post_attention_layernorm", width);
            addMatrix(prefix + "mlp.gate_proj", shape.hidden(), width, random);
            addMatrix(prefix + "mlp.up_proj", shape.hidden(), width, random);
            addMatrix(prefix + "mlp.down_proj", width, shape.hidden(), random);
        }
        addNorm("model.norm", width);
    }

    private void addMatrix(String name, int rows, int columns, SplittableRandom random) {
        Matrix matrix = new Matrix(rows, columns);
        for (float[] row : matrix.values()) {
            for (int i = 0; i < columns; i++) {
                row[i] = (float) (random.nextGaussian() / Math.sqrt(columns));
            }
        }
        byName.put(name + ".weight", matrix);
    }

    private void addNorm(String name, int width) {
        Matrix norm = new Matrix(1, width);
        Arrays.fill(norm.values()[0], 1);
        byName.put(name + ".weight", norm);
    }

    /** By their names, in their order. */
    Map<String, Matrix> all() {
        return byName;
    }

    Matrix named(String name) {
        Matrix found = byName.get(name);
        if (found == null) {
            throw new IllegalArgumentException("the model has no parameter " + name);
        }
        return found;
    }

    long count() {
        return byName.values().stream()
                .mapToLong(each -> (long) each.rows() * each.columns())
                .sum();
    }

    /** Adds all gradients to those in memory, and sets them to zero. */
    void moveGradientsTo(MemorySegment sums) {
        long index = 0;
        for (Matrix each : byName.values()) {
            for (float[] row : each.gradients()) {
                for (int i = 0; i < row.length; i++, index++) {
                    sums.setAtIndex(FLOAT, index, sums.getAtIndex(FLOAT, index) + row[i]);
                }
                Arrays.fill(row, 0);
            }
        }
    }
}
