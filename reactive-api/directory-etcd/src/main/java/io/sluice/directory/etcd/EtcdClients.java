package io.sluice.directory.etcd;

import io.etcd.jetcd.Client;
import io.etcd.jetcd.common.exception.ErrorCode;
import io.etcd.jetcd.common.exception.EtcdExceptionFactory;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/**
 * The client of a store. A client that etcd does not answer is closed, and the next request creates another: on its
 * own, gRPC takes half a minute to notice that the network drops a connection, and after a long outage pauses for up to
 * two minutes before it reconnects.
 */
final class EtcdClients {
    private static final Duration PULSE = Duration.ofSeconds(1);
    /**
     * A lease id that does not exist. Renewing it needs neither permission nor data, and the cluster's leader answers.
     */
    private static final long NO_LEASE = 0;

    private final Supplier<Client> make;
    private final boolean areReplaced;
    private final Duration silence;
    private final Object lock = new Object();
    private @Nullable Live current;
    private boolean isClosed;

    private EtcdClients(Supplier<Client> make, boolean areReplaced, Duration silence) {
        this.make = make;
        this.areReplaced = areReplaced;
        this.silence = silence;
    }

    /** Creates clients, one after the other; each must answer probes within this time. */
    static EtcdClients of(Supplier<Client> make, Duration silence) {
        return new EtcdClients(make, true, silence);
    }

    /** Uses the application's client, which is neither replaced nor closed. */
    static EtcdClients of(Client client) {
        return new EtcdClients(() -> client, false, Duration.ZERO);
    }

    /**
     * Makes one request for each subscriber; cancels it with the subscriber, and fails it when its client is given up.
     */
    <T> Mono<T> request(Function<Client, CompletableFuture<T>> call) {
        return Mono.defer(() -> {
            Live live = live();
            return Mono.fromFuture(() -> call.apply(live.client)).takeUntilOther(live.givenUp.asMono());
        });
    }

    /** The same for streams. */
    <T> Flux<T> stream(Function<Client, Flux<T>> call) {
        return Flux.defer(() -> {
            Live live = live();
            return call.apply(live.client).takeUntilOther(live.givenUp.asMono());
        });
    }

    private Live live() {
        Live made;
        synchronized (lock) {
            if (isClosed) {
                throw new IllegalStateException("the client of etcd is closed");
            }
            if (current != null) {
                return current;
            }
            made = new Live(make.get());
            current = made;
        }
        if (areReplaced) {
            made.watch();
        }
        return made;
    }

    private void replace(Live dead, Throwable error) {
        synchronized (lock) {
            if (!dead.equals(current)) {
                return;
            }
            current = null;
        }
        dead.end(new IllegalStateException("etcd does not answer", error));
    }

    void close() {
        Live last;
        synchronized (lock) {
            isClosed = true;
            last = current;
            current = null;
        }
        if (areReplaced && last != null) {
            last.end(new IllegalStateException("the client of etcd is closed"));
        }
    }

    /** A client, and the signal to its users that it is given up. */
    private final class Live {
        final Client client;
        final Sinks.Empty<Void> givenUp = Sinks.empty();
        private final Disposable.Swap pulse = Disposables.swap();

        Live(Client client) {
            this.client = Objects.requireNonNull(client, "client");
        }

        /** The first probe starts at once and makes the connection. */
        void watch() {
            Mono<Void> answer = Mono.fromFuture(() -> client.getLeaseClient().keepAliveOnce(NO_LEASE))
                    .then()
                    .onErrorResume(Live::isAnswer, refused -> Mono.empty())
                    .timeout(silence);
            pulse.update(
                    answer.then(Mono.delay(PULSE)).repeat().subscribe(ignored -> {}, error -> replace(this, error)));
        }

        private static boolean isAnswer(Throwable error) {
            ErrorCode code = EtcdExceptionFactory.toEtcdException(error).getErrorCode();
            return code != ErrorCode.UNAVAILABLE && code != ErrorCode.CANCELLED;
        }

        void end(IllegalStateException why) {
            pulse.dispose();
            givenUp.tryEmitError(why);
            client.close();
        }
    }
}
