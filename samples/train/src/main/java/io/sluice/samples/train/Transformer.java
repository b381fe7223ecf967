package io.sluice.samples.train;

import java.util.Arrays;

/**
 * A model of Llama's architecture that predicts the next character: norms by the root of the mean of squares, rotary positions,
 * causal attention, SwiGLU, and one table that reads and writes characters. It takes one sequence at a time. Used by one
 * thread.
 */
record Transformer(ModelShape shape, Parameters parameters, Tape.Angles angles) {
    Transformer(ModelShape shape, Parameters parameters) {
        this(shape, parameters, Tape.Angles.of(shape.headWidth() / 2, shape.context()));
    }

    /**
     * How badly it predicts each character of a sequence but the first from those before.
     *
     * @param sequence at most one character more than the context
     * @return the sum of the negative logarithms of the probabilities
     */
    double loss(int[] sequence) {
        return loss(new Tape(false), sequence);
    }

    /** The same, and adds the gradients of this sum to those of the parameters. */
    double learn(int[] sequence) {
        Tape tape = new Tape(true);
        double loss = loss(tape, sequence);
        tape.playBackwards();
        return loss;
    }

    private double loss(Tape tape, int[] sequence) {
        int[] seen = Arrays.copyOf(sequence, sequence.length - 1);
        return tape.loss(scores(tape, seen), Arrays.copyOfRange(sequence, 1, sequence.length));
    }

    /** The scores of each character as the one after a sequence: logarithms of the probabilities, but for a constant. */
    float[] next(int[] sequence) {
        return Products.transposed(scores(new Tape(false), sequence).values())[sequence.length - 1];
    }

    private Matrix scores(Tape tape, int[] sequence) {
        if (sequence.length > shape.context()) {
            throw new IllegalArgumentException(
                    sequence.length + " characters do not fit into a context of " + shape.context());
        }
        Matrix characters = parameters.named("model.embed_tokens.weight");
        Matrix x = tape.lookUp(characters, sequence);
        for (int layer = 0; layer < shape.layers(); layer++) {
            String prefix = "model.layers." + layer + ".";
            x = tape.sum(x, attention(tape, prefix + "self_attn.", norm(tape, prefix + "input_layernorm", x)));
            x = tape.sum(x, feedForward(tape, prefix + "mlp.", norm(tape, prefix + "post_attention_layernorm", x)));
        }
        return tape.product(characters, norm(tape, "model.norm", x));
    }

    private Matrix attention(Tape tape, String prefix, Matrix x) {
        Matrix queries = linear(tape, prefix + "q_proj", x);
        Matrix keys = linear(tape, prefix + "k_proj", x);
        Matrix values = linear(tape, prefix + "v_proj", x);
        Matrix[] gathered = new Matrix[shape.heads()];
        int width = shape.headWidth();
        for (int head = 0; head < shape.heads(); head++) {
            Matrix query = tape.rotated(queries.part(head * width, width), angles);
            Matrix key = tape.rotated(keys.part(head * width, width), angles);
            Matrix scores = tape.scalarProducts(key, query);
            Matrix weights = tape.attentionWeights(scores, (float) (1 / Math.sqrt(width)));
            gathered[head] = tape.product(values.part(head * width, width), weights);
        }
        return linear(tape, prefix + "o_proj", Matrix.stacked(gathered));
    }

    private Matrix feedForward(Tape tape, String prefix, Matrix x) {
        Matrix gate = linear(tape, prefix + "gate_proj", x);
        return linear(tape, prefix + "down_proj", tape.gated(gate, linear(tape, prefix + "up_proj", x)));
    }

    private Matrix linear(Tape tape, String name, Matrix x) {
        return tape.product(parameters.named(name + ".weight"), x);
    }

    private Matrix norm(Tape tape, String name, Matrix x) {
        return tape.normalised(x, parameters.named(name + ".weight"));
    }
}
