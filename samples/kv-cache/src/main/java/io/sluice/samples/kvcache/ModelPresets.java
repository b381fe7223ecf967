package io.sluice.samples.kvcache;

import java.util.List;
import java.util.Locale;

/** The models that can be named on the command line. */
public final class ModelPresets {

    private static final List<ModelPreset> ALL = List.of(
            ModelPreset.attention("llama-3.1-8b", 32, 8, 128),
            ModelPreset.attention("llama-3.1-70b", 80, 8, 128),
            ModelPreset.attention("llama-3.2-1b", 16, 8, 64),
            ModelPreset.attention("llama-3.2-3b", 28, 8, 128),
            ModelPreset.attention("qwen2.5-0.5b", 24, 2, 64),
            ModelPreset.attention("qwen2.5-1.5b", 28, 2, 128),
            ModelPreset.attention("qwen2.5-7b", 28, 4, 128),
            ModelPreset.attention("qwen2.5-14b", 48, 8, 128),
            ModelPreset.attention("qwen2.5-32b", 64, 8, 128),
            ModelPreset.attention("qwen2.5-72b", 80, 8, 128),
            ModelPreset.attention("mistral-7b", 32, 8, 128),
            ModelPreset.attention("mixtral-8x7b", 32, 8, 128),
            ModelPreset.latent("deepseek-v3", 61, 512, 64));

    private ModelPresets() {}

    /** All presets, in the order in which they are listed to users. */
    public static List<ModelPreset> all() {
        return ALL;
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
