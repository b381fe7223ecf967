package io.sluice.engine.transport.verbs;

import io.sluice.engine.SluiceException;
import io.sluice.engine.transport.CompletionStatus;
import io.sluice.engine.transport.WireCounter;
import io.sluice.engine.transport.WorkRequest;
import java.lang.foreign.MemorySegment;
import java.util.List;

/** The services of a connection for the parts of a lane. Its {@code toString} names the connection in logs. */
interface LaneContext {
    /** Counts what the data path does. */
    void count(WireCounter counter, long delta);

    /** A work request has ended. */
    void completed(WorkRequest request, CompletionStatus status);

    /** Counts a failure of a request that may be posted again; gives how many there were before. */
    int countFailure(WorkRequest request);

    /** Takes back the requests that a lane has not completed. The lane is fenced, so each may be executed again. */
    void again(List<WorkRequest> requests);

    /** A lane has room again. */
    void roomMade();

    /** A lane has gone down or come back. */
    void laneChanged();

    /** Sends a message to the peer's endpoint over the control channel. */
    void send(byte[] message);

    /** The part that executes the peer's requests. */
    LaneTarget target();

    /** A part of a notification has arrived: a fragment or a marker. */
    void notificationReceived(int type, MemorySegment buffer, long at, int length);

    /** The connection ends. */
    void failed(String reason);

    /** The connection ends. */
    void failed(SluiceException error);
}
