package io.sluice.samples.train;

/**
 * Products of matrices. Every element is summed in the order of the inner dimension, so a result has the same bits in every
 * run, whether or not the JVM has compiled the loop to vector instructions.
 */
final class Products {
    private Products() {}

    /** Adds a·b to a matrix. Four rows of b at a time stay in the cache while all rows of the sum pass by. */
    static void add(float[][] a, float[][] b, float[][] sum) {
        int k = 0;
        for (; k + 4 <= b.length; k += 4) {
            for (int row = 0; row < a.length; row++) {
                addFour(a[row], b, k, sum[row]);
            }
        }
        for (; k < b.length; k++) {
            for (int row = 0; row < a.length; row++) {
                addOne(a[row][k], b[k], sum[row]);
            }
        }
    }

    // In the loop all arrays are read at its index alone: so the compiler knows that no store reaches a later load.
    private static void addFour(float[] a, float[][] b, int k, float[] sum) {
        float a0 = a[k];
        float a1 = a[k + 1];
        float a2 = a[k + 2];
        float a3 = a[k + 3];
        float[] b0 = b[k];
        float[] b1 = b[k + 1];
        float[] b2 = b[k + 2];
        float[] b3 = b[k + 3];
        for (int i = 0; i < sum.length; i++) {
            sum[i] = sum[i] + a0 * b0[i] + a1 * b1[i] + a2 * b2[i] + a3 * b3[i];
        }
    }

    static void addOne(float a, float[] b, float[] sum) {
        for (int i = 0; i < sum.length; i++) {
            sum[i] += a * b[i];
        }
    }

    static float[][] transposed(float[][] matrix) {
        float[][] result = new float[matrix[0].length][matrix.length];
        for (int row = 0; row < matrix.length; row++) {
            float[] from = matrix[row];
            for (int column = 0; column < from.length; column++) {
                result[column][row] = from[column];
            }
        }
        return result;
    }
}
