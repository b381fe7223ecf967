package io.sluice.reactor.recovery;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.sluice.engine.ConnectFailedException;
import io.sluice.engine.ConnectionClosedException;
import io.sluice.engine.ConnectionState;
import io.sluice.reactor.ReactiveConnection;
import io.sluice.testkit.Patience;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Mono;
import reactor.test.scheduler.VirtualTimeScheduler;

/** When attempts are made and what waits for them, in virtual time. */
class ReconnectingConnectionTest {
    private static final ReconnectOptions OPTIONS = ReconnectOptions.defaults()
            .withBackoff(Duration.ofMillis(100), Duration.ofSeconds(4))
            .withCircuitBreaker(CircuitBreakerOptions.never());

    private final Deque<ScriptedConnection> made = new ArrayDeque<>();
    private final List<Reconnection> events = new ArrayList<>();
    private VirtualTimeScheduler time;
    private boolean refusing;
    private int attempts;

    @BeforeEach
    void stopTime() {
        time = VirtualTimeScheduler.getOrSet();
    }

    @AfterEach
    void letTimeRun() {
        VirtualTimeScheduler.reset();
    }

    private ReconnectingConnection connection(ReconnectOptions options) {
        Mono<ReactiveConnection> connect = Mono.fromSupplier(() -> {
            attempts++;
            if (refusing) {
                throw new ConnectFailedException("refused by the test");
            }
            ScriptedConnection next = new ScriptedConnection();
            made.addLast(next);
            return next.face();
        });
        ReconnectingConnection connection =
                ReconnectingConnection.over(connect, options, () -> time.now(TimeUnit.NANOSECONDS));
        connection.events().subscribe(events::add);
        return connection;
    }

    private void pass(Duration duration) {
        time.advanceTimeBy(duration);
    }

    private <T> Outcome<T> outcome(Mono<T> mono) {
        Outcome<T> outcome = new Outcome<>();
        mono.subscribe(value -> outcome.value = value, error -> outcome.error = error);
        return outcome;
    }

    private static final class Outcome<T> {
        private T value;
        private Throwable error;

        private boolean isOpen() {
            return value == null && error == null;
        }
    }

    @Test
    void itConnectsWhenItIsFirstNeeded() {
        ReconnectingConnection connection = connection(OPTIONS);
        Mono<ReactiveConnection> cold = connection.connection();
        pass(Duration.ofHours(1));
        assertThat(attempts).isZero();
        assertThat(connection.state()).isEqualTo(ReconnectingState.IDLE);

        Outcome<ReactiveConnection> first = outcome(cold);
        pass(Duration.ZERO);
        assertThat(first.value).isSameAs(made.getLast().face());
        assertThat(outcome(cold).value).isSameAs(first.value);
        assertThat(attempts).isEqualTo(1);
        assertThat(connection.state()).isEqualTo(ReconnectingState.CONNECTED);
    }

    @Test
    void itConnectsAtOnceWhenItIsStarted() {
        ReconnectingConnection connection = connection(OPTIONS).start();
        pass(Duration.ZERO);
        assertThat(connection.connectionsMade()).isEqualTo(1);
        connection.start();
        pass(Duration.ofHours(1));
        assertThat(attempts).isEqualTo(1);
    }

    @Test
    void eachPauseIsWithinItsBoundAndAllOfThemAreKept() {
        refusing = true;
        connection(OPTIONS).start();
        pass(Duration.ZERO);
        for (int failures = 1; failures <= 40; failures++) {
            assertThat(attempts).isEqualTo(failures);
            Reconnection.AttemptFailed failed = (Reconnection.AttemptFailed) events.getLast();
            assertThat(failed.failures()).isEqualTo(failures);
            assertThat(failed.pause()).isBetween(Duration.ZERO, OPTIONS.pauseAfter(failures, bound -> bound - 1));
            // to the nanosecond: a pause may be so short that a longer step would hold the next attempt as well
            pass(failed.pause().minusNanos(1));
            assertThat(attempts).isEqualTo(failures);
            pass(Duration.ofNanos(1));
        }
    }

    @Test
    void failuresInARowAreLoggedWithTheirReasonNowAndThen() {
        Logger logger = (Logger) LoggerFactory.getLogger(ConnectionCycle.class);
        ListAppender<ILoggingEvent> logged = new ListAppender<>();
        logged.start();
        logger.addAppender(logged);
        try {
            refusing = true;
            connection(OPTIONS.withMaxFailures(9)).start();
            pass(Duration.ZERO);
            assertThat(logged.list).isEmpty();
            pass(Duration.ofMinutes(1));
        } finally {
            logger.detachAppender(logged);
        }
        assertThat(attempts).isEqualTo(9);
        assertThat(logged.list)
                .allMatch(event -> event.getLevel().equals(Level.WARN))
                .extracting(ILoggingEvent::getFormattedMessage)
                .allMatch(line -> line.contains("refused by the test"))
                .extracting(line -> line.substring(0, line.indexOf(" times")))
                .containsExactly("connecting failed 2", "connecting failed 4", "connecting failed 8");
    }

    @Test
    void aPeerThatComesBackIsConnectedAndServesWhoWaits() {
        ReconnectingConnection connection = connection(OPTIONS).start();
        pass(Duration.ofMinutes(1));
        refusing = true;
        made.getLast().lose();
        assertThat(connection.state()).isEqualTo(ReconnectingState.CONNECTING);
        Outcome<ReactiveConnection> waiting = outcome(connection.connection());
        pass(Duration.ofSeconds(3));
        assertThat(waiting.isOpen()).isTrue();
        refusing = false;
        pass(Duration.ofSeconds(4));
        assertThat(waiting.value).isSameAs(made.getLast().face());
        assertThat(connection.connectionsMade()).isEqualTo(2);
        assertThat(events.getFirst()).isInstanceOf(Reconnection.Connected.class);
        assertThat(events.get(1)).isInstanceOfSatisfying(Reconnection.Lost.class, lost -> {
            assertThat(lost.lasted()).isEqualTo(Duration.ofMinutes(1));
            assertThat(lost.pause()).isLessThanOrEqualTo(Duration.ofMillis(100));
        });
        assertThat(events.getLast())
                .isInstanceOfSatisfying(
                        Reconnection.Connected.class,
                        again -> assertThat(again.downtime()).isBetween(Duration.ofSeconds(3), Duration.ofSeconds(7)));
    }

    @Test
    void aConnectionThatDoesNotLastCountsAsAFailure() {
        ReconnectingConnection connection =
                connection(OPTIONS.withMaxFailures(5)).start();
        for (int i = 0; i < 5; i++) {
            pass(Duration.ofSeconds(3));
            made.getLast().lose();
        }
        assertThat(connection.state()).isEqualTo(ReconnectingState.GIVEN_UP);
        assertThat(attempts).isEqualTo(5);
        assertThat(events.getLast()).isInstanceOf(Reconnection.GivenUp.class);
        assertThat(outcome(connection.connection()).error)
                .isInstanceOf(NotConnectedException.class)
                .hasMessageContaining("given up after 5");
    }

    @Test
    void oneThatLastsBeginsTheCountAnew() {
        ReconnectingConnection connection =
                connection(OPTIONS.withMaxFailures(2)).start();
        for (int i = 0; i < 10; i++) {
            pass(Duration.ofSeconds(10));
            made.getLast().lose();
        }
        assertThat(connection.state()).isEqualTo(ReconnectingState.CONNECTING);
    }

    @Test
    void whatWaitsTooLongEndsAndSaysWhy() {
        refusing = true;
        ReconnectingConnection connection = connection(OPTIONS.withMaxWait(Duration.ofSeconds(7)));
        Outcome<ReactiveConnection> waiting = outcome(connection.connection());
        pass(Duration.ofSeconds(7).minusNanos(1));
        assertThat(waiting.isOpen()).isTrue();
        pass(Duration.ofNanos(1));
        assertThat(waiting.error)
                .isInstanceOf(NotConnectedException.class)
                .hasCauseInstanceOf(ConnectFailedException.class);
        assertThat(outcome(connection.connection()).isOpen()).isTrue();
    }

    @Test
    void whoDoesNotWaitIsToldAtOnce() {
        refusing = true;
        assertThat(outcome(connection(OPTIONS.withMaxWait(Duration.ZERO)).connection()).error)
                .isInstanceOf(NotConnectedException.class);
    }

    @Test
    void noMoreThanSoManyWait() {
        refusing = true;
        ReconnectingConnection connection = connection(OPTIONS.withMaxWaiting(3));
        List<Outcome<ReactiveConnection>> waiting = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            waiting.add(outcome(connection.connection()));
        }
        var cancelled = connection.connection().subscribe();
        assertThat(outcome(connection.connection()).error)
                .isInstanceOf(NotConnectedException.class)
                .hasMessageContaining("3 wait");
        refusing = false;
        pass(Duration.ofSeconds(1));
        assertThat(waiting).allMatch(outcome -> outcome.value != null);
        cancelled.dispose();
    }

    @Test
    void whoeverIsCancelledWaitsNoLonger() {
        refusing = true;
        ReconnectingConnection connection = connection(OPTIONS.withMaxWaiting(1));
        for (int i = 0; i < 10; i++) {
            connection.connection().subscribe().dispose();
        }
        assertThat(outcome(connection.connection()).isOpen()).isTrue();
    }

    @Test
    void aPeerThatFailsAgainAndAgainIsLeftAloneAndTriedOnce() {
        refusing = true;
        ReconnectOptions breaking = OPTIONS.withBackoff(Duration.ofMillis(1), Duration.ofSeconds(1))
                .withMaxWait(Duration.ofMinutes(1))
                .withCircuitBreaker(new CircuitBreakerOptions(
                        4, Duration.ofMinutes(1), Duration.ofSeconds(30), Duration.ofSeconds(5)));
        ReconnectingConnection connection = connection(breaking);
        Outcome<ReactiveConnection> waiting = outcome(connection.connection());
        pass(Duration.ofSeconds(5));
        assertThat(attempts).isEqualTo(4);
        assertThat(connection.circuitState()).isEqualTo(CircuitState.OPEN);
        assertThat(waiting.error).isInstanceOf(CircuitOpenException.class);
        assertThat(outcome(connection.connection()).error)
                .isInstanceOfSatisfying(
                        CircuitOpenException.class,
                        open -> assertThat(open.remaining()).isBetween(Duration.ofSeconds(25), Duration.ofSeconds(30)));

        pass(Duration.ofSeconds(30));
        assertThat(attempts).as("one attempt, and the circuit is open again").isEqualTo(5);
        assertThat(connection.circuitState()).isEqualTo(CircuitState.OPEN);
        assertThat(connection.circuitsOpened()).isEqualTo(2);

        refusing = false;
        pass(Duration.ofSeconds(26));
        assertThat(connection.circuitState()).isEqualTo(CircuitState.HALF_OPEN);
        assertThat(outcome(connection.connection()).value).isNotNull();
        pass(Duration.ofSeconds(5));
        assertThat(connection.circuitState()).isEqualTo(CircuitState.CLOSED);
        assertThat(events.getLast()).isInstanceOf(Reconnection.CircuitClosed.class);
    }

    @Test
    void aConnectionThatBreaksSoonAfterTheCircuitWasOpenOpensItAgain() {
        ReconnectOptions breaking = OPTIONS.withBackoff(Duration.ofMillis(1), Duration.ofMillis(1))
                .withCircuitBreaker(new CircuitBreakerOptions(
                        1, Duration.ofMinutes(1), Duration.ofSeconds(30), Duration.ofSeconds(5)));
        ReconnectingConnection connection = connection(breaking).start();
        for (int i = 1; i < 5; i++) {
            pass(Duration.ofSeconds(31));
            made.getLast().lose();
            assertThat(connection.circuitState()).isEqualTo(CircuitState.OPEN);
            assertThat(connection.circuitsOpened()).isEqualTo(i);
        }
    }

    @Test
    void thoseWhoseCircuitsOpenAtOneInstantDoNotComeBackAtOne() {
        Duration open = Duration.ofSeconds(30);
        Duration pause = Duration.ofSeconds(4);
        ReconnectOptions breaking = OPTIONS.withBackoff(pause, pause)
                .withCircuitBreaker(new CircuitBreakerOptions(1, Duration.ofMinutes(1), open, Duration.ofSeconds(5)));
        refusing = true;
        List<ReconnectingConnection> all = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            all.add(connection(breaking).start());
        }
        pass(Duration.ZERO);
        assertThat(all).allMatch(each -> each.circuitState() == CircuitState.OPEN);
        assertThat(attempts).isEqualTo(50);
        pass(open.minusMillis(1));
        assertThat(attempts).isEqualTo(50);
        pass(Duration.ofMillis(1));
        for (int i = 0; i < 4; i++) {
            int before = attempts;
            pass(pause.dividedBy(4));
            assertThat(attempts - before)
                    .as("attempts in quarter %d of the pause", i)
                    .isBetween(1, 40);
        }
        assertThat(attempts).isEqualTo(100);
    }

    @Test
    void closingEndsWhatWaitsAndWhatComesLate() {
        refusing = true;
        ReconnectingConnection connection = connection(OPTIONS);
        Outcome<ReactiveConnection> waiting = outcome(connection.connection());
        pass(Duration.ofSeconds(1));
        int soFar = attempts;
        outcome(connection.close());
        assertThat(waiting.error).isInstanceOf(ConnectionClosedException.class);
        assertThat(outcome(connection.connection()).error).isInstanceOf(ConnectionClosedException.class);
        pass(Duration.ofMinutes(1));
        assertThat(attempts).isEqualTo(soFar);
        assertThat(connection.state()).isEqualTo(ReconnectingState.CLOSED);
    }

    @Test
    void closingClosesTheConnection() {
        ReconnectingConnection connection = connection(OPTIONS).start();
        pass(Duration.ZERO);
        outcome(connection.close());
        assertThat(made.getLast().state()).isEqualTo(ConnectionState.CLOSED);
        pass(Duration.ofMinutes(1));
        assertThat(made).hasSize(1);
    }

    @Test
    void oneThatTriesAgainAtOnceDoesNotHoldTheThreadThatCloses() {
        // whose one thread would be held in any case
        VirtualTimeScheduler.reset();
        refusing = true;
        ReconnectingConnection connection = connection(OPTIONS);
        Disposable insistent = connection.connection().retry().subscribe();
        Thread closing =
                Thread.ofPlatform().daemon().start(() -> connection.close().subscribe());
        try {
            Patience.join(closing);
            assertThat(connection.state()).isEqualTo(ReconnectingState.CLOSED);
        } finally {
            insistent.dispose();
        }
    }

    @Test
    void oneThatTriesAgainAtOnceDoesNotHoldTheThreadOfTheLastFailure() {
        VirtualTimeScheduler.reset();
        CompletableFuture<Thread> failing = new CompletableFuture<>();
        Mono<ReactiveConnection> connect = Mono.create(sink -> failing.complete(Thread.ofPlatform()
                .daemon()
                .start(() -> sink.error(new ConnectFailedException("refused by the test")))));
        ReconnectingConnection connection = ReconnectingConnection.over(connect, OPTIONS.withMaxFailures(1));
        Disposable insistent = Disposables.composite(
                connection.connection().retry().subscribe(),
                connection.connections().retry().subscribe());
        try {
            Patience.join(Patience.await(failing));
            assertThat(connection.state()).isEqualTo(ReconnectingState.GIVEN_UP);
        } finally {
            insistent.dispose();
        }
    }

    @Test
    void closingClosesTheConnectionAlthoughASubscriberThrows() {
        ReconnectingConnection connection = connection(OPTIONS).start();
        connection.events().subscribe(event -> {}, error -> {}, () -> {
            throw new LinkageError("thrown by the test");
        });
        pass(Duration.ZERO);
        AtomicBoolean closed = new AtomicBoolean();
        connection.close().subscribe(nothing -> {}, error -> {}, () -> closed.set(true));
        assertThat(made.getLast().state()).isEqualTo(ConnectionState.CLOSED);
        assertThat(closed).isTrue();
    }

    @Test
    void eachConnectionIsToldOf() {
        ReconnectingConnection connection = connection(OPTIONS);
        List<ReactiveConnection> told = new ArrayList<>();
        connection.connections().subscribe(told::add);
        for (int i = 0; i < 3; i++) {
            pass(Duration.ofSeconds(10));
            made.getLast().lose();
        }
        assertThat(told).hasSize(3).doesNotHaveDuplicates();
    }
}
