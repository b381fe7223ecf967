package io.sluice.comm.rounds;

import io.sluice.engine.SluiceException;
import io.sluice.experts.backend.CommCallback;
import io.sluice.experts.backend.CommWait;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A wait for a word, which is looked at after each round. */
final class RoundWait implements CommWait {
    private final Armed all;
    private final RoundMemory memory;
    private final long offset;
    private final CommCallback callback;
    private long atLeast;
    private boolean armed;
    private boolean closed;

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
        all.add(this);
    }

    @Override
    public boolean disarm() {
        boolean was = armed;
        if (was) {
            armed = false;
            all.waits.remove(this);
        }
        return was;
    }

    @Override
    public void close() {
        disarm();
        closed = true;
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
            if (wait.value() >= wait.atLeast) {
                later.run();
            }
        }

        /** Tells those whose word has reached its value. */
        void look() {
            for (int i = waits.size() - 1; i >= 0; i--) {
                RoundWait wait = waits.get(i);
                if (wait.value() >= wait.atLeast) {
                    waits.remove(i);
                    reached.add(wait);
                }
            }
            tell(null);
        }

        /** Tells those of memory that is freed. */
        void end(RoundMemory freed, SluiceException error) {
            for (int i = waits.size() - 1; i >= 0; i--) {
                if (waits.get(i).memory == freed) {
                    reached.add(waits.remove(i));
                }
            }
            tell(error);
        }

        private void tell(@Nullable SluiceException error) {
            // one that is told may disarm, close or arm others
            while (!reached.isEmpty()) {
                RoundWait wait = reached.removeFirst();
                if (wait.armed) {
                    wait.armed = false;
                    wait.callback.ended(error);
                }
            }
        }
    }
}
