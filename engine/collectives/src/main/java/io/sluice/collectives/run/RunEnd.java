package io.sluice.collectives.run;

import io.sluice.engine.SluiceException;
import org.jspecify.annotations.Nullable;

/** Receives the end of a run, on the loop. */
@FunctionalInterface
public interface RunEnd {
    /** Called once for each run; nothing touches the run's memory any more. */
    void ended(@Nullable SluiceException error);
}
