package io.sluice.directory;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import io.sluice.directory.store.DirectoryStore;
import io.sluice.directory.store.InProcessStore;
import io.sluice.engine.EngineAddress;
import io.sluice.engine.EngineId;
import io.sluice.testkit.Patience;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** When repeated failures are logged. */
class RepeatedFailuresTest {
    private static final IllegalStateException WRONG_PASSWORD = new IllegalStateException("WRONGPASS");

    private final AtomicLong now = new AtomicLong(-7);
    private final RepeatedFailures failures =
            new RepeatedFailures(LoggerFactory.getLogger(RepeatedFailuresTest.class), "it cannot be had", now::get);

    private void fail(int times) {
        for (int i = 0; i < times; i++) {
            failures.failed(WRONG_PASSWORD);
        }
    }

    @Test
    void oneFailureIsNotWorthAWarning() {
        try (LoggedMessages messages = LoggedMessages.of(RepeatedFailuresTest.class)) {
            fail(1);
            failures.succeeded();
            fail(1);
            assertThat(messages.at(Level.WARN)).isEmpty();
            assertThat(messages.at(Level.INFO)).isEmpty();
        }
    }

    @Test
    void theSecondIsToldWithItsReasonAndThoseAfterItNowAndThen() {
        try (LoggedMessages messages = LoggedMessages.of(RepeatedFailuresTest.class)) {
            fail(2);
            assertThat(messages.at(Level.WARN))
                    .singleElement()
                    .asString()
                    .contains("it cannot be had", "2 failures", "WRONGPASS");
            fail(50);
            now.addAndGet(RepeatedFailures.INTERVAL.toNanos() - 1);
            fail(1);
            assertThat(messages.at(Level.WARN)).hasSize(1);
            now.addAndGet(1);
            fail(3);
            assertThat(messages.at(Level.WARN)).hasSize(2);
            assertThat(messages.at(Level.WARN).getLast()).contains("54 failures");
        }
    }

    @Test
    void itsEndIsToldIfItWasToldAtAll() {
        try (LoggedMessages messages = LoggedMessages.of(RepeatedFailuresTest.class)) {
            fail(3);
            failures.succeeded();
            failures.succeeded();
            assertThat(messages.at(Level.INFO)).singleElement().asString().contains("3 failures");
            fail(2);
            assertThat(messages.at(Level.WARN)).hasSize(2);
        }
    }

    /** Within this process, as long as it is not away: then all requests fail. */
    private static DirectoryStore store(AtomicBoolean isAway) {
        InProcessStore store = new InProcessStore();
        return (DirectoryStore) Proxy.newProxyInstance(
                DirectoryStore.class.getClassLoader(),
                new Class<?>[] {DirectoryStore.class},
                (proxy, method, arguments) -> method.getReturnType().equals(Flux.class)
                        ? Flux.defer(() -> isAway.get()
                                ? Flux.error(WRONG_PASSWORD)
                                : (Flux<?>) call(() -> method.invoke(store, arguments)))
                        : Mono.defer(() -> isAway.get()
                                ? Mono.error(WRONG_PASSWORD)
                                : (Mono<?>) call(() -> method.invoke(store, arguments))));
    }

    private static Object call(Callable<Object> method) {
        try {
            return method.call();
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    private static DirectoryOptions quick() {
        return DirectoryOptions.defaults()
                .withLeaseTime(Duration.ofSeconds(1))
                .withReconcileInterval(Duration.ofMillis(20))
                .withMaxBackoff(Duration.ofMillis(20));
    }

    @Test
    void aWatchSaysWhyItIsLost() {
        AtomicBoolean isAway = new AtomicBoolean(true);
        Directory directory = Directory.over(store(isAway), quick());
        try (LoggedMessages messages = LoggedMessages.of(DirectoryWatch.class)) {
            Disposable watch = directory.watch("decode/").subscribe();
            Patience.until("it is told", () -> !messages.at(Level.WARN).isEmpty());
            assertThat(messages.at(Level.WARN).getFirst()).contains("decode/", "WRONGPASS");
            isAway.set(false);
            Patience.until("its end is told", () -> !messages.at(Level.INFO).isEmpty());
            watch.dispose();
        } finally {
            directory.close().block(Patience.BOUND);
        }
    }

    @Test
    void aPublicationSaysWhyItIsNotRenewed() {
        AtomicBoolean isAway = new AtomicBoolean();
        Directory directory = Directory.over(store(isAway), quick());
        try (LoggedMessages messages = LoggedMessages.of(StorePublication.class)) {
            EngineAddress address = new EngineAddress("127.0.0.1", 7_000, EngineId.random());
            directory
                    .publish(new Advertisement("decode/7", address, 1, new TreeMap<>()))
                    .block(Patience.BOUND);
            isAway.set(true);
            Patience.until("it is told", () -> !messages.at(Level.WARN).isEmpty());
            assertThat(messages.at(Level.WARN).getFirst()).contains("decode/7", "WRONGPASS");
            isAway.set(false);
            Patience.until("its end is told", () -> !messages.at(Level.INFO).isEmpty());
        } finally {
            directory.close().block(Patience.BOUND);
        }
    }
}
