package io.sluice.samples.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.util.Arrays;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class TransformerTest {
    private static final ModelShape SHAPE = new ModelShape(7, 8, 2, 2, 12, 6);
    private static final int[] SEQUENCE = {3, 1, 4, 1, 5, 2, 6};

    private final Parameters parameters = new Parameters(SHAPE, 1);
    private final Transformer model = new Transformer(SHAPE, parameters);

    /** Along any direction, the loss changes as the gradients say: for each parameter by itself. */
    @Test
    void gradientsAreTheSlopesOfTheLoss() {
        model.learn(SEQUENCE);
        SplittableRandom random = new SplittableRandom(7);
        for (Map.Entry<String, Matrix> each : parameters.all().entrySet()) {
            Matrix parameter = each.getValue();
            for (int i = 0; i < 4; i++) {
                float[][] direction = direction(parameter, random);
                double expected = dot(parameter.gradients(), direction);
                double length = Math.sqrt(dot(parameter.gradients(), parameter.gradients()));
                assertThat(slope(parameter, direction)).as(each.getKey()).isCloseTo(expected, within(0.01 * length));
                assertThat(length).as(each.getKey()).isGreaterThan(0.01);
            }
        }
    }

    private double slope(Matrix parameter, float[][] direction) {
        float distance = 4e-3f;
        move(parameter, direction, distance);
        double after = model.loss(SEQUENCE);
        move(parameter, direction, -2 * distance);
        double before = model.loss(SEQUENCE);
        move(parameter, direction, distance);
        return (after - before) / (2 * distance);
    }

    private static void move(Matrix parameter, float[][] direction, float distance) {
        for (int row = 0; row < parameter.rows(); row++) {
            Products.addOne(distance, direction[row], parameter.values()[row]);
        }
    }

    private static float[][] direction(Matrix parameter, SplittableRandom random) {
        float[][] direction = new float[parameter.rows()][parameter.columns()];
        for (float[] row : direction) {
            for (int i = 0; i < row.length; i++) {
                row[i] = (float) random.nextGaussian();
            }
        }
        double length = Math.sqrt(dot(direction, direction));
        for (float[] row : direction) {
            for (int i = 0; i < row.length; i++) {
                row[i] /= (float) length;
            }
        }
        return direction;
    }

    private static double dot(float[][] a, float[][] b) {
        double sum = 0;
        for (int row = 0; row < a.length; row++) {
            for (int i = 0; i < a[row].length; i++) {
                sum += (double) a[row][i] * b[row][i];
            }
        }
        return sum;
    }

    @Test
    void gradientsOfSequencesAddUp() {
        model.learn(SEQUENCE);
        Matrix last = parameters.named("model.norm.weight");
        float[] once = last.gradients()[0].clone();
        model.learn(SEQUENCE);
        for (int i = 0; i < once.length; i++) {
            assertThat(last.gradients()[0][i]).isCloseTo(2 * once[i], within(1e-5f));
        }
    }

    /** The loss of a sequence is that of its characters one after the other, so none sees those after it. */
    @Test
    void predictsFromWhatCameBeforeAlone() {
        double loss = 0;
        for (int length = 1; length < SEQUENCE.length; length++) {
            float[] scores = model.next(Arrays.copyOf(SEQUENCE, length));
            double sum = 0;
            for (float score : scores) {
                sum += Math.exp(score);
            }
            loss += Math.log(sum) - scores[SEQUENCE[length]];
        }
        assertThat(model.loss(SEQUENCE)).isCloseTo(loss, within(1e-4));
    }

    @Test
    void refusesMoreThanItsContext() {
        assertThatThrownBy(() -> model.loss(new int[SHAPE.context() + 2]))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("context of 6");
    }
}
