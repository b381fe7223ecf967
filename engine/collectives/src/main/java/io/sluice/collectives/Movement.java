package io.sluice.collectives;

import io.sluice.collectives.run.PointToPoint;
import io.sluice.collectives.run.RunEnd;
import io.sluice.engine.SluiceException;
import io.sluice.engine.StartEvent;
import io.sluice.engine.TransferOptions;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** A send or a receive. */
final class Movement implements Collective, RunEnd {
    private final CalledCollective.Parts parts;
    private final CollectiveKind kind;
    private final long bytes;
    private final CollectiveOptions options;
    private final CollectiveCallback callback;
    private final PointToPoint points;
    private final long timeoutNanos;
    private volatile boolean terminated;

    Movement(
            CalledCollective.Parts parts,
            CollectiveKind kind,
            Buffer buffer,
            ElementType type,
            int peer,
            int tag,
            CollectiveOptions options,
            CollectiveCallback callback) {
        this.parts = parts;
        this.kind = kind;
        this.bytes = buffer.bytes();
        this.options = options;
        this.callback = callback;
        this.points = new PointToPoint(
                kind == CollectiveKind.SEND,
                peer,
                tag,
                type.code(),
                buffer.memory(),
                buffer.bytes(),
                TransferOptions.defaults().withPriority(options.priority()),
                this);
        Duration timeout = options.timeout();
        this.timeoutNanos = (timeout == null ? parts.timeout() : timeout).toNanos();
    }

    Movement call() {
        StartEvent event = options.startAfter();
        if (event == null) {
            parts.loop().submit(points, timeoutNanos);
        } else {
            points.gate();
            parts.loop().submit(points, timeoutNanos);
            event.whenHappened(error -> parts.happened(points, kind, error));
        }
        return this;
    }

    @Override
    public void ended(@Nullable SluiceException error) {
        parts.figures().ended(this, points, timeoutNanos, bytes, error);
        terminated = true;
        callback.ended(this, error);
    }

    @Override
    public CollectiveKind kind() {
        return kind;
    }

    @Override
    public Algorithm algorithm() {
        return Algorithm.DIRECT;
    }

    @Override
    public boolean isTerminated() {
        return terminated;
    }

    @Override
    public long totalBytes() {
        return kind == CollectiveKind.RECEIVE ? bytes : 0;
    }

    @Override
    public long processedBytes() {
        return kind == CollectiveKind.RECEIVE ? points.received() : 0;
    }
}
