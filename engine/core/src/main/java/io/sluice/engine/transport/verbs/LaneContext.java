package io.sluice.engine.transport.verbs;

import io.sluice.engine.SluiceException;
import io.sluice.engine.transport.CompletionStatus;
import io.sluice.engine.transport.WireCounter;
import io.sluice.engine.transport.WorkRequest;
import java.lang.foreign.MemorySegment;
import java.util.List;

/** The services of a connection for the parts of a lane. {@code toString} names the connection in logs. */
interface LaneContext {
    /** Adds to a counter of the data path. */
    void count(WireCounter counter, long delta);

    /** A work request has ended. */
    void completed(WorkRequest request, CompletionStatus status);

    /** Counts a failure of a request that may be posted again; returns how many there were before. */
    int countFailure(WorkRequest request);

    /**
     * Takes back the requests that a lane has not completed. The lane is fenced, so that each may be executed again.
     */
    void again(List<WorkRequest> requests);

    /** A lane has room again. */
    void roomMade();

    /** A lane went down or came back. */
    void laneChanged();

    /** Sends a message to the peer's endpoint over the control channel. */
    void send(byte[] message);

    /** Returns the part that executes the peer's requests. */
    LaneTarget target();

    /** A fragment or marker of a notification has arrived. */
    void notificationReceived(int type, MemorySegment buffer, long at, int length);

    /** Ends the connection because of an error on this side. */
    void failed(String reason);

    /** Ends the connection with an error. */
    void failed(SluiceException error);
}
