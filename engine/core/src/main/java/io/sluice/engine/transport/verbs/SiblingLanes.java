package io.sluice.engine.transport.verbs;

import io.sluice.engine.ProtocolException;
import org.jspecify.annotations.Nullable;

/** The lanes of a connection as one of them sees the others. Each is named by its index. */
interface SiblingLanes {
    /**
     * The messages of a lane that the peer names.
     *
     * @throws ProtocolException if there is no such lane
     */
    LaneMessages messages(int lane);

    /** Whether a lane on another path than this one's is open, so that it could take over. */
    boolean hasOpenElsewhere(int lane);

    /**
     * The lane that carries the messages of one that goes down: on another path if one is open, else any that is not
     * down; or null.
     */
    @Nullable
    LaneMessages carrierFor(int lane);

    /** Messages have changed their places: which answers wait, and in what order, is found out again. */
    void recountAnswers();
}
