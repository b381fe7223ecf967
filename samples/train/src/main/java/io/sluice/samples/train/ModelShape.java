package io.sluice.samples.train;

/**
 * The sizes of a model.
 *
 * @param vocabulary how many characters it knows
 * @param width of the vector of a position
 * @param layers how many
 * @param heads of the attention of a layer; each has an even part of the width
 * @param hidden width inside the feed-forward part of a layer
 * @param context how many characters it sees at most
 */
record ModelShape(int vocabulary, int width, int layers, int heads, int hidden, int context) {
    ModelShape {
        if (vocabulary < 2
                || width < 2
                || layers < 1
                || heads < 1
                || hidden < 1
                || context < 2
                || width % (2L * heads) != 0) {
            throw new IllegalArgumentException(
                    "no model can have these sizes: vocabulary " + vocabulary + ", width " + width + ", layers "
                            + layers + ", heads " + heads + ", hidden " + hidden + ", context " + context);
        }
    }

    int headWidth() {
        return width / heads;
    }
}
