package io.sluice.samples.replay;

import io.sluice.samples.trace.TraceRequest;
import java.time.Duration;
import java.util.function.Function;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** When the requests of a trace are sent. */
public record Pacing(double speed) {
    private static final double UNLIMITED = Double.POSITIVE_INFINITY;

    public static Pacing unlimited() {
        return new Pacing(UNLIMITED);
    }

    /**
     * In the trace's own time, scaled.
     *
     * @param speed 1 as recorded, 2 twice as fast
     */
    public static Pacing scaled(double speed) {
        if (!(speed > 0) || speed == UNLIMITED) {
            throw new IllegalArgumentException("a speed is a positive number, not " + speed);
        }
        return new Pacing(speed);
    }

    /**
     * The pacing that a text names.
     *
     * @throws IllegalArgumentException if it names none; the message says what to give
     */
    public static Pacing parse(String text) {
        if (text.strip().equalsIgnoreCase("max")) {
            return unlimited();
        }
        try {
            return scaled(Double.parseDouble(text));
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(
                    "'" + text + "' is no speed: give max, or a positive number, such as"
                            + " 1 for as recorded or 10 for ten times that",
                    e);
        }
    }

    /** The requests, each as soon as it is due and asked for. One that is late is sent at once. */
    Flux<TraceRequest> apply(Flux<TraceRequest> requests) {
        return speed == UNLIMITED ? requests : Flux.defer(() -> requests.concatMap(new DueTime(), 0));
    }

    /** Delays each request until it is due, counted from the first. */
    private final class DueTime implements Function<TraceRequest, Publisher<TraceRequest>> {
        private boolean started;
        private long startNanos;
        private long firstTimestampMillis;

        @Override
        public Publisher<TraceRequest> apply(TraceRequest request) {
            long now = System.nanoTime();
            if (!started) {
                started = true;
                startNanos = now;
                firstTimestampMillis = request.timestampMillis();
            }
            long due = (long) ((request.timestampMillis() - firstTimestampMillis) * 1e6 / speed);
            long wait = due - (now - startNanos);
            return wait <= 0
                    ? Mono.just(request)
                    : Mono.delay(Duration.ofNanos(wait)).thenReturn(request);
        }
    }
}
