package io.sluice.directory.vertx;

import io.sluice.directory.DirectoryUnavailableException;
import io.vertx.core.Future;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.function.Supplier;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * Bounds how many requests the cluster has not answered. Some cluster managers keep a worker of the application for each, also
 * after the caller has given up: a cluster that does not answer would soon hold all workers. A request beyond the bound is queued,
 * and never made if its caller gives up before.
 */
final class UnansweredRequests {
    private static final int MOST_WAITING = 4_096;

    private final int most;

    // Both guarded by this object.
    private final Queue<Runnable> waiting = new ArrayDeque<>();
    private int unanswered;

    UnansweredRequests(int most) {
        this.most = most;
    }

    /** Made for each subscriber, when it is its turn. */
    <T> Mono<T> request(Supplier<Future<T>> request) {
        return Mono.create(sink -> {
            Runnable turn = () -> made(request).onComplete(result -> {
                answered();
                if (result.succeeded()) {
                    sink.success(result.result());
                } else {
                    sink.error(result.cause());
                }
            });
            sink.onCancel(() -> forget(turn));
            boolean now;
            boolean later;
            synchronized (this) {
                now = unanswered < most;
                later = !now && waiting.size() < MOST_WAITING;
                if (now) {
                    unanswered++;
                } else if (later) {
                    waiting.add(turn);
                }
            }
            if (now) {
                // Not on the caller's context: its workers, and with them the answer, may go with a verticle.
                Schedulers.parallel().schedule(turn);
            } else if (!later) {
                sink.error(new DirectoryUnavailableException("the cluster has left " + most
                        + " requests unanswered, and " + MOST_WAITING + " wait for them already"));
            }
        });
    }

    private static <T> Future<T> made(Supplier<Future<T>> request) {
        try {
            return request.get();
        } catch (RuntimeException refused) {
            return Future.failedFuture(refused);
        }
    }

    private synchronized void forget(Runnable turn) {
        waiting.remove(turn);
    }

    /** The next one takes the place, if there is one. */
    private void answered() {
        Runnable next;
        synchronized (this) {
            next = waiting.poll();
            if (next == null) {
                unanswered--;
            }
        }
        if (next != null) {
            next.run();
        }
    }
}
