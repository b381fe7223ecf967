package io.sluice.vertx;

import io.sluice.engine.SluiceException;

/** Who waits for a slot of the staging region. Called once for each wait, by any thread, and must not block. */
interface SlotTaker {
    /** Here it is. */
    void granted(StagingSlot slot);

    /** There will be none. */
    void refused(SluiceException error);
}
