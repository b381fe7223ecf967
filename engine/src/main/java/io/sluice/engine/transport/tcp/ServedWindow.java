package io.sluice.engine.transport.tcp;

/**
 * The peer's requests on one connection whose answers have not left yet. A peer that asks for more than it was told it may is
 * not read from until answers have gone, so it can occupy no more than this. Confined to the connection's loop.
 */
final class ServedWindow {
    private final int maxRequests;
    private final long maxBytes;
    private final Runnable whenRoom;
    private int requests;
    private long bytes;

    ServedWindow(int maxRequests, long maxBytes, Runnable whenRoom) {
        this.maxRequests = maxRequests;
        this.maxBytes = maxBytes;
        this.whenRoom = whenRoom;
    }

    /** More than a peer may ask for that keeps to what it was told; a single answer may be of any size. */
    boolean isExceeded() {
        return requests > maxRequests || (bytes > maxBytes && requests > 1);
    }

    /** An answer waits. */
    void add(long payload) {
        requests++;
        bytes += payload;
    }

    /** Answers have left, or need not leave any more. */
    void remove(int answers, long payloads) {
        boolean before = isExceeded();
        requests -= answers;
        bytes -= payloads;
        if (before && !isExceeded()) {
            whenRoom.run();
        }
    }
}
