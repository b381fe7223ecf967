package io.sluice.engine.transport.tcp;

/**
 * The peer's requests on one connection whose answers have not left yet. A peer that exceeds the announced limit is not
 * read from until answers have gone, so it can occupy no more than this. Confined to the connection's loop.
 */
final class ServedWindow {
    private final int maxRequests;
    private final long maxBytes;
    private final Runnable whenRoom;
    private int requests;
    private long bytes;
    // the longest answer since none waited: a single one may be of any size
    private long longest;

    ServedWindow(int maxRequests, long maxBytes, Runnable whenRoom) {
        this.maxRequests = maxRequests;
        this.maxBytes = maxBytes;
        this.whenRoom = whenRoom;
    }

    /** Whether the peer exceeds the announced limit. */
    boolean isExceeded() {
        return requests > maxRequests || bytes > Math.max(maxBytes, longest);
    }

    /** An answer waits. */
    void add(long payload) {
        requests++;
        bytes += payload;
        longest = Math.max(longest, payload);
    }

    /** Answers have left, or need not leave any more. */
    void remove(int answers, long payloads) {
        boolean before = isExceeded();
        requests -= answers;
        bytes -= payloads;
        if (bytes == 0) {
            longest = 0;
        }
        if (before && !isExceeded()) {
            whenRoom.run();
        }
    }
}
