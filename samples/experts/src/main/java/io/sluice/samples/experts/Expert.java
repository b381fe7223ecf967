package io.sluice.samples.experts;

import java.util.Arrays;
import java.util.SplittableRandom;

/**
 * An expert: two layers of neurons, which learn by Adam. Every sum is taken in a fixed order, so the same tokens in the same
 * order make the same bits wherever the expert lives. Used by one thread.
 */
final class Expert {
    /** Channels of what goes in, and of what comes out. */
    static final int WIDTH = 128;

    private static final int INNER = 64;
    private static final int PARAMETERS = 2 * WIDTH * INNER + INNER + WIDTH;
    private static final float MEAN_DECAY = 0.9f;
    private static final float SQUARE_DECAY = 0.99f;
    private static final float EPSILON = 1e-8f;

    /** Floats of an expert's whole state. */
    static final int STATE = 3 * PARAMETERS;

    // The rows of the inputs' weights, inner biases, the rows of the inner neurons' weights, outer biases.
    private static final int INNER_BIASES = WIDTH * INNER;
    private static final int OUTER = INNER_BIASES + INNER;
    private static final int OUTER_BIASES = OUTER + INNER * WIDTH;

    private final float[] parameters = new float[PARAMETERS];
    private final float[] means = new float[PARAMETERS];
    private final float[] squares = new float[PARAMETERS];
    private final float[] gradients = new float[PARAMETERS];

    Expert(int number, long seed) {
        SplittableRandom random = new SplittableRandom(seed * 31 + number);
        for (int i = 0; i < INNER_BIASES; i++) {
            parameters[i] = (float) (random.nextGaussian() / Math.sqrt(WIDTH / 8.0));
        }
        for (int i = OUTER; i < OUTER_BIASES; i++) {
            parameters[i] = (float) (random.nextGaussian() / Math.sqrt(INNER));
        }
    }

    /** Computes a token. */
    float[] compute(float[] in) {
        float[] inner = inner(in);
        float[] out = Arrays.copyOfRange(parameters, OUTER_BIASES, OUTER_BIASES + WIDTH);
        for (int i = 0; i < INNER; i++) {
            addRow(inner[i], parameters, OUTER + i * WIDTH, out);
        }
        return out;
    }

    private float[] inner(float[] in) {
        float[] inner = Arrays.copyOfRange(parameters, INNER_BIASES, INNER_BIASES + INNER);
        for (int i = 0; i < WIDTH; i++) {
            addRow(in[i], parameters, i * INNER, inner);
        }
        for (int i = 0; i < INNER; i++) {
            inner[i] = Math.max(inner[i], 0);
        }
        return inner;
    }

    private static void addRow(float factor, float[] matrix, int row, float[] sum) {
        for (int i = 0; i < sum.length; i++) {
            sum[i] += factor * matrix[row + i];
        }
    }

    /**
     * Adds a token's share to the gradients.
     *
     * @param in what the expert was given
     * @param out the gradient of the loss by what it returned
     */
    void learn(float[] in, float[] out) {
        float[] inner = inner(in);
        float[] byInner = new float[INNER];
        for (int i = 0; i < INNER; i++) {
            float sum = 0;
            for (int j = 0; j < WIDTH; j++) {
                sum += parameters[OUTER + i * WIDTH + j] * out[j];
            }
            byInner[i] = inner[i] > 0 ? sum : 0;
            addTo(OUTER + i * WIDTH, inner[i], out);
        }
        addTo(OUTER_BIASES, 1, out);
        for (int i = 0; i < WIDTH; i++) {
            addTo(i * INNER, in[i], byInner);
        }
        addTo(INNER_BIASES, 1, byInner);
    }

    private void addTo(int row, float factor, float[] values) {
        for (int i = 0; i < values.length; i++) {
            gradients[row + i] += factor * values[i];
        }
    }

    /**
     * Changes the parameters once by the gradients, which are zero then.
     *
     * @param step from 1 on
     */
    void step(int step, float rate) {
        float ofMeans = (float) (1 / (1 - StrictMath.pow(MEAN_DECAY, step)));
        float ofSquares = (float) (1 / (1 - StrictMath.pow(SQUARE_DECAY, step)));
        for (int i = 0; i < PARAMETERS; i++) {
            float gradient = gradients[i];
            means[i] += (1 - MEAN_DECAY) * (gradient - means[i]);
            squares[i] += (1 - SQUARE_DECAY) * (gradient * gradient - squares[i]);
            parameters[i] -= rate * (means[i] * ofMeans) / ((float) Math.sqrt(squares[i] * ofSquares) + EPSILON);
        }
        Arrays.fill(gradients, 0);
    }

    /** All that the expert is between two steps. */
    float[] state() {
        float[] state = Arrays.copyOf(parameters, STATE);
        System.arraycopy(means, 0, state, PARAMETERS, PARAMETERS);
        System.arraycopy(squares, 0, state, 2 * PARAMETERS, PARAMETERS);
        return state;
    }

    /** Makes it what it was. */
    void restore(float[] state) {
        System.arraycopy(state, 0, parameters, 0, PARAMETERS);
        System.arraycopy(state, PARAMETERS, means, 0, PARAMETERS);
        System.arraycopy(state, 2 * PARAMETERS, squares, 0, PARAMETERS);
        Arrays.fill(gradients, 0);
    }
}
