package io.sluice.samples.command;

import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Takes note of errors that came when nobody waited for them any more. */
final class DroppedError implements Consumer<Throwable> {

    private static final Logger LOG = LoggerFactory.getLogger(DroppedError.class);

    @Override
    public void accept(Throwable error) {
        LOG.debug("an error came when nobody waited for it any more", error);
    }
}
