package io.sluice.samples.kvcache;

import java.util.List;
import java.util.Locale;

/**
 * The size of a model's KV-cache by its published configuration, at 16-bit precision.
 *
 * @param name the name that the command line takes, in lower case
 * @param layers number of layers that keep a cache
 * @param bytesPerToken bytes that one layer keeps for one token
 */
public record ModelPreset(String name, int layers, int bytesPerToken) {
    /** Bytes of one bf16 value. */
    private static final int VALUE_BYTES = 2;

    private static final List<ModelPreset> ALL = List.of(
            attention("llama-3.1-8b", 32, 8, 128),
            attention("llama-3.1-70b", 80, 8, 128),
            attention("llama-3.2-1b", 16, 8, 64),
            attention("llama-3.2-3b", 28, 8, 128),
            attention("qwen2.5-0.5b", 24, 2, 64),
            attention("qwen2.5-1.5b", 28, 2, 128),
            attention("qwen2.5-7b", 28, 4, 128),
            attention("qwen2.5-14b", 48, 8, 128),
            attention("qwen2.5-32b", 64, 8, 128),
            attention("qwen2.5-72b", 80, 8, 128),
            attention("mistral-7b", 32, 8, 128),
            attention("mixtral-8x7b", 32, 8, 128),
            latent("deepseek-v3", 61, 512, 64));

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

    /** The names of all presets, in the order in which they are listed to users. */
    public static List<String> names() {
        return ALL.stream().map(ModelPreset::name).toList();
    }

    /**
     * The preset of a name; case and surrounding blanks don't matter.
     *
     * @throws IllegalArgumentException if there is none; the message lists the known names
     */
    public static ModelPreset named(String name) {
        String wanted = name.strip().toLowerCase(Locale.ROOT);
        return ALL.stream()
                .filter(preset -> preset.name().equals(wanted))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException(
                        "unknown model '" + name + "'; known models: " + String.join(", ", names())));
    }
}
