package io.sluice.samples.train;

import java.util.Locale;

/** The models that can be trained. */
public enum ModelSize {
    /** About a million parameters; it takes minutes. */
    STANDARD(128, 5, 4, 344, 128),
    /** Some ten thousand parameters; it takes seconds. */
    TINY(32, 2, 2, 88, 32);

    private final int width;
    private final int layers;
    private final int heads;
    private final int hidden;
    private final int context;

    ModelSize(int width, int layers, int heads, int hidden, int context) {
        this.width = width;
        this.layers = layers;
        this.heads = heads;
        this.hidden = hidden;
        this.context = context;
    }

    ModelShape shape(int vocabulary) {
        return new ModelShape(vocabulary, width, layers, heads, hidden, context);
    }

    /** Returns the name as options have it. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
