package io.sluice.samples.train;

import java.lang.foreign.MemorySegment;

/** AdamW: steps of a size of their own for each parameter, and decay of the matrices apart from the gradients. */
final class AdamW {
    private static final float MEAN_DECAY = 0.9f;
    private static final float SQUARE_DECAY = 0.99f;
    private static final float EPSILON = 1e-8f;
    private static final float WEIGHT_DECAY = 0.1f;
    private static final double LONGEST_GRADIENT = 1;

    private final Parameters parameters;
    private final float[] means;
    private final float[] squares;

    AdamW(Parameters parameters) {
        this.parameters = parameters;
        means = new float[Math.toIntExact(parameters.count())];
        squares = new float[means.length];
    }

    /**
     * Changes the parameters once.
     *
     * @param gradients sums, in the order of the parameters
     * @param terms of each sum
     * @param step from 1 on
     */
    void step(MemorySegment gradients, long terms, int step, double learningRate) {
        double length = 0;
        for (int i = 0; i < means.length; i++) {
            double gradient = gradients.getAtIndex(Parameters.FLOAT, i);
            length += gradient * gradient;
        }
        length = Math.sqrt(length) / terms;
        float scale = (float) ((length > LONGEST_GRADIENT ? LONGEST_GRADIENT / length : 1) / terms);
        float ofMeans = (float) (1 / (1 - StrictMath.pow(MEAN_DECAY, step)));
        float ofSquares = (float) (1 / (1 - StrictMath.pow(SQUARE_DECAY, step)));
        float rate = (float) learningRate;
        int i = 0;
        for (Matrix each : parameters.all().values()) {
            float decay = each.rows() == 1 ? 0 : rate * WEIGHT_DECAY;
            for (float[] row : each.values()) {
                for (int column = 0; column < row.length; column++, i++) {
                    float gradient = gradients.getAtIndex(Parameters.FLOAT, i) * scale;
                    means[i] += (1 - MEAN_DECAY) * (gradient - means[i]);
                    squares[i] += (1 - SQUARE_DECAY) * (gradient * gradient - squares[i]);
                    float change = means[i] * ofMeans / ((float) Math.sqrt(squares[i] * ofSquares) + EPSILON);
                    row[column] -= rate * change + decay * row[column];
                }
            }
        }
    }
}
