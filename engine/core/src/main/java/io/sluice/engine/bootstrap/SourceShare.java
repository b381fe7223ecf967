package io.sluice.engine.bootstrap;

/** The places that the sockets of one source address hold at present. Guarded by its {@link SourceShares}. */
final class SourceShare {
    private static final double SECOND = 1e9;

    private final long source;
    private int slots;
    private double recent;
    private long recentAt;

    SourceShare(long source, long now) {
        this.source = source;
        this.recentAt = now;
    }

    long source() {
        return source;
    }

    int slots() {
        return slots;
    }

    void slots(int count) {
        slots = count;
    }

    /** Handshakes of about the last second: each counts for less and less. */
    double recent(long now) {
        recent *= Math.exp(-Math.max(0, now - recentAt) / SECOND);
        recentAt = now;
        return recent;
    }

    void handshake(long now) {
        recent = recent(now) + 1;
    }

    boolean isIdle(long now) {
        return slots == 0 && recent(now) < 0.5;
    }
}
