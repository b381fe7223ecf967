package io.sluice.cuda;

import io.sluice.engine.transport.CompletionStatus;
import io.sluice.engine.transport.WorkRequest;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A request that takes many copies, which a stream is given in parts, as it has room: pages by copy engines, and memory of the host
 * that was pinned in several ranges. On the loop's thread.
 */
final class PartedCopy {
    private @Nullable WorkRequest request;
    private @Nullable GpuStreams streams;
    private @Nullable StreamLane lane;
    private long position;
    private int parts;
    private @Nullable CompletionStatus failure;

    void begin(WorkRequest begun, GpuStreams by, StreamLane over) {
        request = begun;
        streams = by;
        lane = over;
        position = 0;
        parts = 0;
        failure = null;
    }

    /** Nothing of it is under way, and it is used again. */
    void clear() {
        request = null;
        streams = null;
        lane = null;
    }

    WorkRequest request() {
        return Objects.requireNonNull(request);
    }

    GpuStreams streams() {
        return Objects.requireNonNull(streams);
    }

    /** All of it goes over one, in order. */
    StreamLane lane() {
        return Objects.requireNonNull(lane);
    }

    /** How many bytes were given. */
    long position() {
        return position;
    }

    /** Where the next piece is in the local memory. */
    long local() {
        WorkRequest copied = request();
        return copied.hasPages() ? copied.pages().local(page()) + inPage() : copied.localOffset() + position;
    }

    /** Where the next piece is in the remote memory. */
    long remote() {
        WorkRequest copied = request();
        return copied.hasPages() ? copied.pages().remote(page()) + inPage() : copied.remoteOffset() + position;
    }

    /** How long the next piece is. */
    long pieceBytes() {
        WorkRequest copied = request();
        return copied.hasPages() ? copied.pages().pageBytes() - inPage() : copied.length() - position;
    }

    private int page() {
        return request().firstPage() + (int) (position / request().pages().pageBytes());
    }

    private long inPage() {
        return position % request().pages().pageBytes();
    }

    void gave(long bytes) {
        position += bytes;
    }

    /** Whether nothing is left to be given: all was, or it has failed. */
    boolean isGiven() {
        return failure != null || position == request().length();
    }

    /** Whether all was given, and nothing has failed. */
    boolean isWhole() {
        return failure == null && position == request().length();
    }

    void partBegun() {
        parts++;
    }

    void partEnded(CompletionStatus status) {
        parts--;
        if (status != CompletionStatus.SUCCESS) {
            stop(status);
        }
    }

    /** Nothing more of it is given, unless all was; the first reason counts. */
    void stop(CompletionStatus why) {
        if (failure == null) {
            failure = why;
        }
    }

    /** Whether nothing is under way and nothing follows. */
    boolean isOver() {
        return parts == 0 && isGiven();
    }

    /** How it has ended. */
    CompletionStatus status() {
        CompletionStatus why = failure;
        return why == null ? CompletionStatus.SUCCESS : why;
    }
}
