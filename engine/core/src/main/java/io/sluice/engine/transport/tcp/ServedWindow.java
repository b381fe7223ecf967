package io.sluice.engine.transport.tcp;

/**
 * The peer's requests on one connection whose answers have not left yet. If the peer exceeds the announced limit, its
 * sockets are not read until answers have left, which bounds the memory it can occupy. Confined to the connection's
 * loop.
 */
final class ServedWindow {
    private final int maxRequests;
    private final long maxBytes;
    private final Runnable whenRoom;
    private int requests;
    private long bytes;
    // the longest answer since none was waiting: a single answer may have any size
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

    /** An answer is queued. */
    void add(long payload) {
        requests++;
        bytes += payload;
        longest = Math.max(longest, payload);
    }

    /** Answers have left or were dropped. */
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
