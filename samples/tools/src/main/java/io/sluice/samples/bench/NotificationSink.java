package io.sluice.samples.bench;

import io.sluice.engine.NotificationListener;
import io.sluice.engine.SluiceException;
import org.jspecify.annotations.Nullable;

/** A listener to whom the end of the connection means nothing: its transfers tell of it. */
interface NotificationSink extends NotificationListener {
    @Override
    default void ended(@Nullable SluiceException error) {}
}
