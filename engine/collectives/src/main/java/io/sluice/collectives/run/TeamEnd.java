package io.sluice.collectives.run;

import io.sluice.engine.SluiceException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** Why no collective of a team can succeed any more. The loop writes it, once; any thread reads it. */
final class TeamEnd {
    private final CompletableFuture<Void> stage = new CompletableFuture<>();
    private volatile @Nullable SluiceException error;

    /** Returns why no collective can succeed any more, or null. */
    @Nullable
    SluiceException error() {
        return error;
    }

    /** Throws why no collective can succeed any more. */
    void check() {
        SluiceException ended = error;
        if (ended != null) {
            throw ended;
        }
    }

    /** Ends it with an error; false if it has ended. */
    boolean failed(SluiceException why) {
        if (error != null) {
            return false;
        }
        error = why;
        stage.completeExceptionally(why);
        return true;
    }

    /** Ends it as it is closed; false if it has ended. */
    boolean closed(SluiceException why) {
        if (error != null) {
            return false;
        }
        error = why;
        stage.complete(null);
        return true;
    }

    /** Returns a stage that completes when it has ended, normally if it is closed. */
    CompletionStage<Void> stage() {
        return stage.minimalCompletionStage();
    }
}
