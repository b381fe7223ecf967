package io.sluice.engine.transport.verbs;

import io.sluice.engine.ProtocolException;
import org.jspecify.annotations.Nullable;

/** The other lanes of a connection as a lane sees them, each named by its index. */
interface SiblingLanes {
    /**
     * Returns the messages of a lane that the peer names.
     *
     * @throws ProtocolException if there is no such lane
     */
    LaneMessages messages(int lane);

    /** Whether a lane on another path is open, so that it could take over. */
    boolean hasOpenElsewhere(int lane);

    /**
     * Returns the lane that carries the messages of one that goes down: on another path if one is open, else any that
     * is not down; or null.
     */
    @Nullable
    LaneMessages carrierFor(int lane);

    /** Messages have moved: recounts which answers wait on each lane. */
    void recountAnswers();
}
