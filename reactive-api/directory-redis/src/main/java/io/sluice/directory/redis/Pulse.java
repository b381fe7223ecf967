package io.sluice.directory.redis;

import io.lettuce.core.RedisCommandExecutionException;
import java.time.Duration;
import java.util.function.Consumer;
import org.reactivestreams.Publisher;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/** Asks a connection again and again whether it is alive: TCP alone does not notice for minutes that the network drops it. */
final class Pulse {
    private static final Duration INTERVAL = Duration.ofSeconds(1);

    private Pulse() {}

    /**
     * Asks until it is disposed of, or there was no answer.
     *
     * @param question any command. An error that the server answers with is an answer
     * @param silence how long an answer may take
     * @param dead is told once
     */
    static Disposable of(Publisher<?> question, Duration silence, Consumer<Throwable> dead) {
        Mono<Void> answer = Mono.from(question)
                .then()
                .onErrorResume(RedisCommandExecutionException.class, refused -> Mono.empty())
                .timeout(silence);
        return Mono.delay(INTERVAL).then(answer).repeat().subscribe(ignored -> {}, dead);
    }
}
