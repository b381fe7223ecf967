package io.sluice.samples.kvcache;

/**
 * What a model's published configuration says about the size of its KV-cache, at 16-bit precision.
 *
 * @param name the name that the command line takes, in lower case
 * @param layers number of layers that keep a cache
 * @param bytesPerToken bytes that one layer keeps for one token
 */
public record ModelPreset(String name, int layers, int bytesPerToken) {

    /** Bytes of one bf16 value. */
    private static final int VALUE_BYTES = 2;

    /** Checks that the sizes are positive and that a page stays below 2 GiB. */
    public ModelPreset {
        if (layers < 1) {
            throw new IllegalArgumentException("layers must be positive: " + layers);
        }
        if (bytesPerToken < 1 || bytesPerToken > Integer.MAX_VALUE / TokenLayout.PAGE_TOKENS) {
            throw new IllegalArgumentException("bytes per token out of range: " + bytesPerToken);
        }
    }

    /** A model whose layers keep a key and a value vector for each KV head. */
    static ModelPreset attention(String name, int layers, int kvHeads, int headDimension) {
        int keyAndValue = 2;
        return new ModelPreset(name, layers, kvHeads * headDimension * keyAndValue * VALUE_BYTES);
    }

    /** A model with multi-head latent attention: one compressed vector and one rotary key for all heads together. */
    static ModelPreset latent(String name, int layers, int kvLoraRank, int ropeHeadDimension) {
        return new ModelPreset(name, layers, (kvLoraRank + ropeHeadDimension) * VALUE_BYTES);
    }

    /** Bytes of one page: one layer's {@value TokenLayout#PAGE_TOKENS} tokens. */
    public int pageBytes() {
        return bytesPerToken * TokenLayout.PAGE_TOKENS;
    }
}
