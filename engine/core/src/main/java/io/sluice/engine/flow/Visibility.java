package io.sluice.engine.flow;

import io.sluice.engine.transport.WriteVisibility;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Makes the writes over all paths of a connection visible at the target. On the poller's thread. */
final class Visibility {
    // of the paths whose completed writes are not visible yet
    private final WriteVisibility[] acknowledging;
    // by path; null where what has completed is visible
    private final @Nullable WriteVisibility[] byPath;

    private Visibility(List<FlowPath> paths) {
        byPath = paths.stream()
                .map(path -> path.endpoint() instanceof WriteVisibility endpoint ? endpoint : null)
                .toArray(WriteVisibility[]::new);
        acknowledging = paths.stream()
                .map(FlowPath::endpoint)
                .filter(WriteVisibility.class::isInstance)
                .toArray(WriteVisibility[]::new);
    }

    /** Of all paths. */
    static Visibility of(List<FlowPath> paths) {
        return new Visibility(paths);
    }

    /**
     * Returns the step between writes and operations that follow them: a path keeps the order of its own writes, but
     * does not know of those that another path's adapter has only acknowledged.
     *
     * @return null if no step is needed
     */
    static @Nullable Visibility between(List<FlowPath> paths) {
        Visibility all = new Visibility(paths);
        return paths.size() > 1 && all.acknowledging.length > 0 ? all : null;
    }

    /** Runs a task when the writes are visible, possibly inside the call, and never if an endpoint is closed first. */
    void make(Runnable done) {
        if (acknowledging.length == 0) {
            done.run();
        } else if (acknowledging.length == 1) {
            acknowledging[0].makeVisible(done);
        } else {
            Countdown left = new Countdown(acknowledging.length, done);
            for (WriteVisibility endpoint : acknowledging) {
                endpoint.makeVisible(left);
            }
        }
    }

    /** As {@link #make(Runnable)}, for the writes of one path. */
    void make(int path, Runnable done) {
        WriteVisibility endpoint = byPath[path];
        if (endpoint == null) {
            done.run();
        } else {
            endpoint.makeVisible(done);
        }
    }

    /** Runs something once it was run so many times. */
    private static final class Countdown implements Runnable {
        private final Runnable done;
        private int left;

        Countdown(int count, Runnable done) {
            this.left = count;
            this.done = done;
        }

        @Override
        public void run() {
            if (--left == 0) {
                done.run();
            }
        }
    }
}
