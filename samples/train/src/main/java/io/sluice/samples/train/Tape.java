package io.sluice.samples.train;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The operations of a model. A tape that learns records how each adds to the gradients of what it was computed from, and plays
 * that backwards. A column is a position of the sequence: so the loops along a row run along the sequence.
 */
final class Tape {
    private static final float EPSILON = 1e-5f;

    /** Cosines and sines of the angles of each pair (rows) at each position. */
    record Angles(float[][] cosines, float[][] sines) {
        private static final double BASE = 10_000;

        static Angles of(int pairs, int positions) {
            Angles angles = new Angles(new float[pairs][positions], new float[pairs][positions]);
            for (int pair = 0; pair < pairs; pair++) {
                double frequency = StrictMath.pow(BASE, -(double) pair / pairs);
                for (int t = 0; t < positions; t++) {
                    angles.cosines[pair][t] = (float) StrictMath.cos(t * frequency);
                    angles.sines[pair][t] = (float) StrictMath.sin(t * frequency);
                }
            }
            return angles;
        }
    }

    private final boolean learns;
    private final List<Runnable> backwards = new ArrayList<>();

    Tape(boolean learns) {
        this.learns = learns;
    }

    private Matrix result(int rows, int columns) {
        return learns ? new Matrix(rows, columns) : Matrix.withoutGradients(rows, columns);
    }

    private void record(Runnable backward) {
        if (learns) {
            backwards.add(backward);
        }
    }

    /** From the gradients of the last result, those of all before. */
    void playBackwards() {
        backwards.reversed().forEach(Runnable::run);
    }

    /** Rows of a table as columns. */
    Matrix lookUp(Matrix table, int[] rows) {
        Matrix y = result(table.columns(), rows.length);
        for (int t = 0; t < rows.length; t++) {
            for (int f = 0; f < table.columns(); f++) {
                y.values()[f][t] = table.values()[rows[t]][f];
            }
        }
        record(() -> {
            for (int t = 0; t < rows.length; t++) {
                for (int f = 0; f < table.columns(); f++) {
                    table.gradients()[rows[t]][f] += y.gradients()[f][t];
                }
            }
        });
        return y;
    }

    Matrix product(Matrix a, Matrix b) {
        Matrix y = result(a.rows(), b.columns());
        Products.add(a.values(), b.values(), y.values());
        record(() -> {
            Products.add(y.gradients(), Products.transposed(b.values()), a.gradients());
            Products.add(Products.transposed(a.values()), y.gradients(), b.gradients());
        });
        return y;
    }

    /** The scalar products of the columns of one matrix, by rows, with those of another one. */
    Matrix scalarProducts(Matrix a, Matrix b) {
        Matrix y = result(a.columns(), b.columns());
        Products.add(Products.transposed(a.values()), b.values(), y.values());
        record(() -> {
            Products.add(b.values(), Products.transposed(y.gradients()), a.gradients());
            Products.add(a.values(), y.gradients(), b.gradients());
        });
        return y;
    }

    Matrix sum(Matrix a, Matrix b) {
        Matrix y = result(a.rows(), a.columns());
        for (int f = 0; f < a.rows(); f++) {
            Products.addOne(1, a.values()[f], y.values()[f]);
            Products.addOne(1, b.values()[f], y.values()[f]);
        }
        record(() -> {
            for (int f = 0; f < a.rows(); f++) {
                Products.addOne(1, y.gradients()[f], a.gradients()[f]);
                Products.addOne(1, y.gradients()[f], b.gradients()[f]);
            }
        });
        return y;
    }

    /** Divides each column by the root of the mean of its squares, and scales the rows. */
    Matrix normalised(Matrix x, Matrix scale) {
        int columns = x.columns();
        float[] factors = scale.values()[0];
        float[] inverse = new float[columns];
        for (float[] row : x.values()) {
            for (int t = 0; t < columns; t++) {
                inverse[t] += row[t] * row[t];
            }
        }
        for (int t = 0; t < columns; t++) {
            inverse[t] = (float) (1 / Math.sqrt(inverse[t] / x.rows() + EPSILON));
        }
        Matrix y = result(x.rows(), columns);
        for (int f = 0; f < x.rows(); f++) {
            for (int t = 0; t < columns; t++) {
                y.values()[f][t] = x.values()[f][t] * inverse[t] * factors[f];
            }
        }
        record(() -> {
            float[] dot = new float[columns];
            for (int f = 0; f < x.rows(); f++) {
                float sum = 0;
                for (int t = 0; t < columns; t++) {
                    float product = y.gradients()[f][t] * x.values()[f][t];
                    dot[t] += product * factors[f];
                    sum += product * inverse[t];
                }
                scale.gradients()[0][f] += sum;
            }
            for (int t = 0; t < columns; t++) {
                dot[t] *= inverse[t] * inverse[t] / x.rows();
            }
            for (int f = 0; f < x.rows(); f++) {
                for (int t = 0; t < columns; t++) {
                    float own = y.gradients()[f][t] * factors[f];
                    x.gradients()[f][t] += inverse[t] * (own - x.values()[f][t] * dot[t]);
                }
            }
        });
        return y;
    }

    /** Turns pairs of the rows of a head by angles that grow with the position, so that scores depend on distances. */
    Matrix rotated(Matrix x, Angles angles) {
        Matrix y = result(x.rows(), x.columns());
        rotate(x.values(), angles, 1, y.values());
        record(() -> rotate(y.gradients(), angles, -1, x.gradients()));
        return y;
    }

    private static void rotate(float[][] x, Angles angles, float direction, float[][] sum) {
        int half = x.length / 2;
        for (int pair = 0; pair < half; pair++) {
            float[] first = x[pair];
            float[] second = x[pair + half];
            for (int t = 0; t < first.length; t++) {
                float cosine = angles.cosines()[pair][t];
                float sine = angles.sines()[pair][t] * direction;
                sum[pair][t] += first[t] * cosine - second[t] * sine;
                sum[pair + half][t] += second[t] * cosine + first[t] * sine;
            }
        }
    }

    /** Of the scores of keys (rows) for queries (columns), weights that add up to one: none for keys after a query. */
    Matrix attentionWeights(Matrix scores, float scale) {
        Matrix y = result(scores.rows(), scores.columns());
        for (int key = 0; key < y.rows(); key++) {
            Arrays.fill(y.values()[key], 0, key, Float.NEGATIVE_INFINITY);
            for (int query = key; query < y.columns(); query++) {
                y.values()[key][query] = scores.values()[key][query] * scale;
            }
        }
        softmax(y.values());
        record(() -> {
            float[] means = new float[y.columns()];
            for (int key = 0; key < y.rows(); key++) {
                for (int query = 0; query < y.columns(); query++) {
                    means[query] += y.values()[key][query] * y.gradients()[key][query];
                }
            }
            for (int key = 0; key < y.rows(); key++) {
                for (int query = 0; query < y.columns(); query++) {
                    float gradient = y.gradients()[key][query] - means[query];
                    scores.gradients()[key][query] += gradient * y.values()[key][query] * scale;
                }
            }
        });
        return y;
    }

    /** SwiGLU: one matrix, through a smooth threshold, lets another one through. */
    Matrix gated(Matrix gate, Matrix x) {
        Matrix y = result(x.rows(), x.columns());
        float[][] sigmoids = new float[x.rows()][x.columns()];
        for (int f = 0; f < x.rows(); f++) {
            for (int t = 0; t < x.columns(); t++) {
                sigmoids[f][t] = (float) (1 / (1 + Math.exp(-gate.values()[f][t])));
                y.values()[f][t] = gate.values()[f][t] * sigmoids[f][t] * x.values()[f][t];
            }
        }
        record(() -> {
            for (int f = 0; f < x.rows(); f++) {
                for (int t = 0; t < x.columns(); t++) {
                    float open = gate.values()[f][t] * sigmoids[f][t];
                    float slope = sigmoids[f][t] + open * (1 - sigmoids[f][t]);
                    gate.gradients()[f][t] += y.gradients()[f][t] * x.values()[f][t] * slope;
                    x.gradients()[f][t] += y.gradients()[f][t] * open;
                }
            }
        });
        return y;
    }

    /**
     * How badly scores predict: the sum of the negative logarithms of the probabilities of what came.
     *
     * @param came the row of each column
     */
    double loss(Matrix scores, int[] came) {
        float[][] probabilities =
                Arrays.stream(scores.values()).map(float[]::clone).toArray(float[][]::new);
        softmax(probabilities);
        double loss = 0;
        for (int t = 0; t < came.length; t++) {
            loss -= Math.log(Math.max(probabilities[came[t]][t], Float.MIN_NORMAL));
        }
        record(() -> {
            for (int row = 0; row < scores.rows(); row++) {
                Products.addOne(1, probabilities[row], scores.gradients()[row]);
            }
            for (int t = 0; t < came.length; t++) {
                scores.gradients()[came[t]][t] -= 1;
            }
        });
        return loss;
    }

    /** Makes probabilities of the scores of each column. */
    private static void softmax(float[][] scores) {
        float[] highest = scores[0].clone();
        for (float[] row : scores) {
            for (int t = 0; t < row.length; t++) {
                highest[t] = Math.max(highest[t], row[t]);
            }
        }
        float[] sums = new float[highest.length];
        for (float[] row : scores) {
            for (int t = 0; t < row.length; t++) {
                row[t] = (float) Math.exp(row[t] - highest[t]);
                sums[t] += row[t];
            }
        }
        for (float[] row : scores) {
            for (int t = 0; t < row.length; t++) {
                row[t] /= sums[t];
            }
        }
    }
}
