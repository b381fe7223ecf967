package io.sluice.samples.train;

import java.util.Arrays;

/**
 * A matrix as an array of its rows, and the gradients of a loss by its elements.
 *
 * @param gradients has no rows where none are wanted
 */
record Matrix(float[][] values, float[][] gradients) {
    Matrix(int rows, int columns) {
        this(new float[rows][columns], new float[rows][columns]);
    }

    static Matrix withoutGradients(int rows, int columns) {
        return new Matrix(new float[rows][columns], new float[0][]);
    }

    int rows() {
        return values.length;
    }

    int columns() {
        return values[0].length;
    }

    /** Some of its rows, not copied. */
    Matrix part(int first, int count) {
        return new Matrix(
                Arrays.copyOfRange(values, first, first + count),
                gradients.length == 0 ? gradients : Arrays.copyOfRange(gradients, first, first + count));
    }

    /** The rows of several matrices, not copied. */
    static Matrix stacked(Matrix... parts) {
        return new Matrix(
                Arrays.stream(parts).map(Matrix::values).flatMap(Arrays::stream).toArray(float[][]::new),
                Arrays.stream(parts)
                        .map(Matrix::gradients)
                        .flatMap(Arrays::stream)
                        .toArray(float[][]::new));
    }
}
