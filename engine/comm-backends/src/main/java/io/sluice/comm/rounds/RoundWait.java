package io.sluice.comm.rounds;

import io.sluice.engine.SluiceException;
import io.sluice.experts.backend.CommCallback;
import io.sluice.experts.backend.CommWait;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A wait for a word, which is looked at after each round. */
final class RoundWait implements CommWait {
    private static final Logger LOG = LoggerFactory.getLogger(RoundWait.class);

    private final Armed all;
    private final RoundMemory memory;
    private final long offset;
    private final CommCallback callback;
    private long atLeast;
    private boolean armed;
    private boolean closed;
    private @Nullable SluiceException error;

    RoundWait(Armed all, RoundMemory memory, long offset, CommCallback callback) {
        this.all = all;
        this.memory = memory;
        this.offset = offset;
        this.callback = callback;
    }

    @Override
    public long value() {
        return memory.word(offset);
    }

    @Override
    public void arm(long value) {
        if (armed || closed) {
            throw new IllegalStateException(closed ? "the wait is closed" : "it waits already");
        }
        armed = true;
        atLeast = value;
        error = null;
        all.add(this);
    }

    @Override
    public boolean disarm() {
        boolean was = armed;
        if (was) {
            armed = false;
            all.waits.remove(this);
            // else the next wait would end with this one
            all.reached.remove(this);
        }
        return was;
    }

    @Override
    public void close() {
        disarm();
        closed = true;
    }

    /** Whether its callback is to be called. */
    private boolean isOver() {
        try {
            return value() >= atLeast;
        } catch (IllegalStateException engineIsClosed) {
            error = new SluiceException(
                    "the symmetric memory of a wait is gone, as its engine is closed: open another engine",
                    engineIsClosed);
            return true;
        }
    }

    /** Those of a back end that wait. The loop's. */
    static final class Armed {
        private final List<RoundWait> waits = new ArrayList<>();
        private final List<RoundWait> reached = new ArrayList<>();
        private final Runnable later;

        /**
         * Creates it.
         *
         * @param later has {@link #look} called soon, and not within the call
         */
        Armed(Runnable later) {
            this.later = later;
        }

        private void add(RoundWait wait) {
            waits.add(wait);
            if (wait.isOver()) {
                later.run();
            }
        }

        /** Tells those whose word has reached its value, or is gone. */
        void look() {
            for (int i = waits.size() - 1; i >= 0; i--) {
                RoundWait wait = waits.get(i);
                if (wait.isOver()) {
                    reached.add(waits.remove(i));
                }
            }
            tell();
        }

        /** Tells those of memory that is freed. */
        void end(RoundMemory freed, SluiceException error) {
            for (int i = waits.size() - 1; i >= 0; i--) {
                if (waits.get(i).memory == freed) {
                    RoundWait wait = waits.remove(i);
                    wait.error = error;
                    reached.add(wait);
                }
            }
            tell();
        }

        private void tell() {
            // one that is told may disarm, close or arm others
            while (!reached.isEmpty()) {
                RoundWait wait = reached.removeFirst();
                wait.armed = false;
                try {
                    wait.callback.ended(wait.error);
                } catch (RuntimeException e) {
                    // the others must be told all the same
                    LOG.error("the callback of a wait threw an exception", e);
                }
            }
        }
    }
}
