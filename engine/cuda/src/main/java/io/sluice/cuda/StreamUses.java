package io.sluice.cuda;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A resource that launches of streams use. Closed, it refuses launches, and is released once each stream has finished the work it had been
 * given by then. So a launch costs a look at a flag, and nothing counts the launches under way. Any thread.
 */
final class StreamUses {
    private final Lifetime life;
    private final Set<StreamSequence> streams = ConcurrentHashMap.newKeySet();
    // of the thread that waits for them
    private final Map<StreamSequence, Long> marks = new HashMap<>();

    /**
     * Makes it open.
     *
     * @param what it is, in words
     * @param giveBack may block
     */
    StreamUses(String what, Runnable giveBack) {
        life = new Lifetime(what, this::isThrough, giveBack);
    }

    Lifetime life() {
        return life;
    }

    /** Launches of a stream may use it from now on. */
    void usedOn(StreamSequence stream) {
        streams.removeIf(StreamSequence::isGone);
        streams.add(stream);
    }

    /** A stream that submits has said so before. */
    void ensureOpen() {
        if (!life.isOpen()) {
            throw new GpuClosedException(life.what());
        }
    }

    void close() {
        life.close();
    }

    CompletableFuture<Void> released() {
        return life.released();
    }

    private boolean isThrough() {
        for (StreamSequence stream : streams) {
            Long mark = marks.get(stream);
            if (mark == null) {
                long now = stream.mark();
                if (now < 0) {
                    return false;
                }
                marks.put(stream, now);
                mark = now;
            }
            if (!stream.isThrough(mark)) {
                return false;
            }
        }
        return true;
    }
}
