package io.sluice.engine.progress;

import io.sluice.engine.transport.Deadline;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A binary heap of deadlines that know their position, so that disarming is as cheap as arming and nothing is
 * allocated. Confined to one thread.
 */
@SuppressWarnings("ReferenceEquality") // a deadline is its own identity
final class DeadlineQueue {
    private @Nullable Deadline[] heap = new @Nullable Deadline[64];
    private int size;

    boolean isEmpty() {
        return size == 0;
    }

    /** Returns the earliest time; the queue must not be empty. */
    long earliest() {
        return at(0).at();
    }

    void arm(Deadline deadline, long at) {
        if (deadline.place() != Deadline.NOT_ARMED) {
            disarm(deadline);
        }
        if (size == heap.length) {
            heap = Arrays.copyOf(heap, size * 2);
        }
        deadline.placed(at, size);
        heap[size] = deadline;
        up(size++);
    }

    void disarm(Deadline deadline) {
        int place = deadline.place();
        if (place == Deadline.NOT_ARMED) {
            return;
        }
        deadline.placed(deadline.at(), Deadline.NOT_ARMED);
        Deadline last = at(--size);
        heap[size] = null;
        if (last != deadline) {
            heap[place] = last;
            last.placed(last.at(), place);
            up(place);
            down(last.place());
        }
    }

    /** Removes and returns the earliest deadline if its time has come. */
    @Nullable
    Deadline pollExpired(long now) {
        if (size == 0 || at(0).at() - now > 0) {
            return null;
        }
        Deadline first = at(0);
        disarm(first);
        return first;
    }

    private Deadline at(int index) {
        Deadline deadline = heap[index];
        if (deadline == null) {
            throw new IllegalStateException("no deadline at " + index + " of " + size);
        }
        return deadline;
    }

    // times are compared by their difference, as System.nanoTime() may wrap
    private void up(int from) {
        Deadline moving = at(from);
        int index = from;
        while (index > 0) {
            int parent = (index - 1) >>> 1;
            Deadline above = at(parent);
            if (above.at() - moving.at() <= 0) {
                break;
            }
            heap[index] = above;
            above.placed(above.at(), index);
            index = parent;
        }
        heap[index] = moving;
        moving.placed(moving.at(), index);
    }

    private void down(int from) {
        Deadline moving = at(from);
        int index = from;
        while (2 * index + 1 < size) {
            int child = 2 * index + 1;
            if (child + 1 < size && at(child + 1).at() - at(child).at() < 0) {
                child++;
            }
            Deadline below = at(child);
            if (moving.at() - below.at() <= 0) {
                break;
            }
            heap[index] = below;
            below.placed(below.at(), index);
            index = child;
        }
        heap[index] = moving;
        moving.placed(moving.at(), index);
    }
}
