package io.sluice.samples.command;

import io.sluice.samples.kvcache.ModelPreset;
import io.sluice.samples.kvcache.ModelPresets;
import java.util.ArrayList;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/** The option that names a model. */
final class ModelOption {

    private static final String DEFAULT = "qwen2.5-0.5b";

    @Option(
            names = "--model",
            paramLabel = "NAME",
            defaultValue = DEFAULT,
            converter = Converter.class,
            completionCandidates = Candidates.class,
            description = {
                "The model whose KV-cache moves. Default: ${DEFAULT-VALUE}.",
                "One of: ${COMPLETION-CANDIDATES}."
            })
    private ModelPreset model = ModelPresets.named(DEFAULT);

    ModelPreset model() {
        return model;
    }

    static final class Converter implements ITypeConverter<ModelPreset> {
        @Override
        public ModelPreset convert(String text) {
            try {
                return ModelPresets.named(text);
            } catch (IllegalArgumentException e) {
                throw new TypeConversionException(e.getMessage());
            }
        }
    }

    static final class Candidates extends ArrayList<String> {
        private static final long serialVersionUID = 1L;

        Candidates() {
            super(ModelPresets.names());
        }
    }
}
