package io.sluice.experts;

import io.sluice.experts.backend.CommBackend;
import io.sluice.experts.backend.CommBackendProvider;
import io.sluice.experts.backend.CommSettings;
import io.sluice.experts.sluice.SluiceBackendProvider;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;

/** Opens {@link PlainBackend}s; public, as it is found by its name. */
public final class PlainBackendProvider implements CommBackendProvider {
    static final String NAME = "plain";

    private final SluiceBackendProvider wrapped = new SluiceBackendProvider();

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public byte[] uniqueId() {
        return NAME.getBytes(StandardCharsets.UTF_8);
    }

    @Override
    public CompletableFuture<CommBackend> open(CommSettings settings) {
        if (!new String(settings.uniqueId(), StandardCharsets.UTF_8).equals(NAME)) {
            throw new AssertionError("the unique id is not that of rank 0");
        }
        return wrapped.open(settings).thenApply(PlainBackend::new);
    }
}
