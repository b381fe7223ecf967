package io.sluice.samples.kvcache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ModelPresetsTest {

    @ParameterizedTest
    @CsvSource({
        "llama-3.1-8b, 32, 65536",
        "llama-3.1-70b, 80, 65536",
        "llama-3.2-1b, 16, 32768",
        "llama-3.2-3b, 28, 65536",
        "qwen2.5-0.5b, 24, 8192",
        "qwen2.5-1.5b, 28, 16384",
        "qwen2.5-7b, 28, 32768",
        "qwen2.5-14b, 48, 65536",
        "qwen2.5-32b, 64, 65536",
        "qwen2.5-72b, 80, 65536",
        "mistral-7b, 32, 65536",
        "mixtral-8x7b, 32, 65536",
        "deepseek-v3, 61, 18432"
    })
    void publishedConfigurations(String name, int layers, int pageBytes) {
        ModelPreset preset = ModelPreset.named(name);
        assertThat(preset.layers()).isEqualTo(layers);
        assertThat(preset.pageBytes()).isEqualTo(pageBytes);
    }

    @Test
    void caseDoesNotMatter() {
        assertThat(ModelPreset.named(" Llama-3.1-8B ")).isSameAs(ModelPreset.named("llama-3.1-8b"));
    }

    @Test
    void namesAreUniqueAndInLowerCase() {
        assertThat(ModelPreset.names()).doesNotHaveDuplicates().allMatch(name -> name.equals(name.toLowerCase()));
    }

    @Test
    void anUnknownNameListsTheKnownOnes() {
        assertThatThrownBy(() -> ModelPreset.named("gpt-2"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("gpt-2")
                .hasMessageContaining("llama-3.1-8b, ")
                .hasMessageContaining("deepseek-v3");
    }

    @Test
    void sizesArePositive() {
        assertThatIllegalArgumentException().isThrownBy(() -> new ModelPreset("none", 0, 16));
        assertThatIllegalArgumentException().isThrownBy(() -> new ModelPreset("none", 1, 0));
        assertThatIllegalArgumentException().isThrownBy(() -> new ModelPreset("huge", 1, Integer.MAX_VALUE / 16 + 1));
    }
}
