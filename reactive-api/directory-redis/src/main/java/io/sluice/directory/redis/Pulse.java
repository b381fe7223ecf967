package io.sluice.directory.redis;

import io.lettuce.core.RedisCommandExecutionException;
import java.time.Duration;
import java.util.function.Consumer;
import org.reactivestreams.Publisher;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/** Probes a connection periodically: for minutes, TCP alone does not notice that the network drops its packets. */
final class Pulse {
    private static final Duration INTERVAL = Duration.ofSeconds(1);

    private Pulse() {}

    /**
     * Probes until it is disposed of or a probe is not answered.
     *
     * @param question any command; an error reply is an answer, too
     * @param silence the time-out of an answer
     * @param dead called once without an answer
     */
    static Disposable of(Publisher<?> question, Duration silence, Consumer<Throwable> dead) {
        Mono<Void> answer = Mono.from(question)
                .then()
                .onErrorResume(RedisCommandExecutionException.class, refused -> Mono.empty())
                .timeout(silence);
        return Mono.delay(INTERVAL).then(answer).repeat().subscribe(ignored -> {}, dead);
    }
}
