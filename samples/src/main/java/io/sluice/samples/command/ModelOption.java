package io.sluice.samples.command;

import io.sluice.samples.kvcache.ModelPreset;
import java.util.ArrayList;
import picocli.CommandLine.Option;

/** The option that names a model. */
final class ModelOption {
    private static final String DEFAULT = "qwen2.5-0.5b";

    @Option(names = "--model", paramLabel = "NAME", defaultValue = DEFAULT, completionCandidates = Candidates.class)
    private ModelPreset model = ModelPreset.named(DEFAULT);

    ModelPreset model() {
        return model;
    }

    static final class Candidates extends ArrayList<String> {
        private static final long serialVersionUID = 1L;

        Candidates() {
            super(ModelPreset.names());
        }
    }
}
