package io.sluice.engine.flow;

import io.sluice.engine.transport.Capabilities.CompletionLevel;
import io.sluice.engine.transport.Endpoint;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Makes what was written over all paths of a connection visible at the target. On the poller's thread. */
final class Visibility {
    private final Endpoint[] endpoints;

    private Visibility(List<FlowPath> paths) {
        endpoints = paths.stream().map(FlowPath::endpoint).toArray(Endpoint[]::new);
    }

    /** Of all paths. */
    static Visibility of(List<FlowPath> paths) {
        return new Visibility(paths);
    }

    /**
     * What has to come before something that follows writes: one path sees to the order of its own writes, but knows nothing of
     * those that another path's adapter has only acknowledged.
     *
     * @return null if nothing has to
     */
    static @Nullable Visibility between(List<FlowPath> paths) {
        return paths.size() > 1
                        && paths.stream()
                                .anyMatch(path -> path.capabilities().completion() != CompletionLevel.VISIBLE)
                ? new Visibility(paths)
                : null;
    }

    /** Runs what follows, perhaps inside the call, and never if an endpoint is closed before. */
    void make(Runnable done) {
        if (endpoints.length == 1) {
            endpoints[0].makeVisible(done);
            return;
        }
        Countdown left = new Countdown(endpoints.length, done);
        for (Endpoint endpoint : endpoints) {
            endpoint.makeVisible(left);
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
