package io.sluice.directory.vertx;

import io.sluice.directory.DirectoryUnavailableException;
import io.vertx.core.Future;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.function.Supplier;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * Limits the requests that the cluster has not answered. Some cluster managers block a worker of the application for
 * each, even after the caller has given up: an unresponsive cluster would soon block all workers. Further requests are
 * queued, and dropped if their caller gives up.
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

    /** Creates the request for each subscriber when its turn has come. */
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
                // not on the caller's context: undeploying its verticle would end its workers, and the answer would be
                // lost
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

    /** Starts the next queued request, if any. */
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
