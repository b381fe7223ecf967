package io.sluice.engine.memory;

import io.sluice.engine.SluiceException;
import java.nio.ByteBuffer;

/** A request to the peer over the control channel that waits for its answer. */
abstract class PendingRequest {
    private final long askedAt;

    PendingRequest(long askedAt) {
        this.askedAt = askedAt;
    }

    long askedAt() {
        return askedAt;
    }

    /** Called with the answer, after its request number. */
    abstract void answered(ByteBuffer answer);

    abstract void failed(SluiceException error);
}
