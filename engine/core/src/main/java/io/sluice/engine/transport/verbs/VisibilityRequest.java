package io.sluice.engine.transport.verbs;

/** Reads on several lanes; once all have returned, everything written on them before is in the peer's memory. */
final class VisibilityRequest {
    private final Runnable done;
    private int outstanding = 1;

    VisibilityRequest(Runnable done) {
        this.done = done;
    }

    void expect() {
        outstanding++;
    }

    void arrived() {
        if (--outstanding == 0) {
            done.run();
        }
    }
}
