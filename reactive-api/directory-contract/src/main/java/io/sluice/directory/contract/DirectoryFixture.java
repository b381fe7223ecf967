package io.sluice.directory.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.directory.Directory;
import io.sluice.directory.DirectoryOptions;
import io.sluice.directory.DirectoryUnavailableException;
import io.sluice.directory.EngineNotFoundException;
import io.sluice.reactor.ReactiveTransferEngine;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.TestInfo;
import reactor.core.publisher.Mono;
import reactor.util.retry.Retry;

/** Two directories for each test, over the store of its class. */
@SuppressWarnings("NullAway") // JUnit fills in the fields, and AssertJ checks what is read.
abstract class DirectoryFixture extends StoreFixture {
    /** The shortest lease: a dead engine disappears soon. A live one may be missing briefly if a beat is late. */
    static final Duration SHORT_LEASE = Duration.ofSeconds(1);
    /** For engines that must stay listed even if a busy machine delays their beats for most of the lease. */
    static final Duration SAFE_LEASE = Patience.scaled(Duration.ofSeconds(2));
    /** The lease is longer than any test, so that no entry expires; slow answers are valid. */
    static final DirectoryOptions PATIENT = PublisherProgram.options(Duration.ofHours(1))
            .withReconcileInterval(Duration.ofMillis(500))
            .withMaxBackoff(Duration.ofSeconds(1));
    /** For stores that will not answer. A slow answer counts as none, so requests that must succeed are retried. */
    static final DirectoryOptions IMPATIENT = PATIENT.withRequestTimeout(Patience.scaled(Duration.ofMillis(500)));

    Directory directory;
    Directory other;
    String name;
    private final List<AutoCloseable> closedLast = new CopyOnWriteArrayList<>();

    @BeforeEach
    void open(TestInfo test) {
        name = uniqueName("contract", test);
        directory = store.open(PATIENT);
        other = store.open(PATIENT);
    }

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable resource : closedLast.reversed()) {
            resource.close();
        }
        closedLast.clear();
        directory.close().block(Patience.BOUND);
        other.close().block(Patience.BOUND);
    }

    <T extends AutoCloseable> T closedLast(T resource) {
        closedLast.add(resource);
        return resource;
    }

    Directory open(DirectoryOptions options) {
        Directory opened = store.open(options);
        closedLast(() -> opened.close().block(Patience.BOUND));
        return opened;
    }

    ContractPublisher startPublisher(Duration lease) {
        return closedLast(store.startPublisher(name, lease));
    }

    static <T> T get(Mono<T> mono) {
        T value = mono.block(Patience.BOUND);
        assertThat(value).isNotNull();
        return value;
    }

    static <T> void assertFails(Mono<T> mono, Class<? extends Throwable> type) {
        assertThatThrownBy(() -> mono.block(Patience.BOUND)).isInstanceOf(type);
    }

    static <T> Mono<T> eventually(Mono<T> request) {
        return again(request, DirectoryUnavailableException.class);
    }

    /** An entry with a short lease may be missing briefly. */
    static <T> Mono<T> whenThere(Mono<T> lookUp) {
        return again(again(lookUp, DirectoryUnavailableException.class), EngineNotFoundException.class);
    }

    private static <T> Mono<T> again(Mono<T> request, Class<? extends Throwable> after) {
        return request.retryWhen(
                        Retry.fixedDelay(Long.MAX_VALUE, Duration.ofMillis(100)).filter(after::isInstance))
                .timeout(Patience.BOUND);
    }

    ReactiveTransferEngine engine() {
        // No peer falls silent: the sockets of one that dies are closed.
        ReactiveTransferEngine engine = ReactiveTransferEngine.open(
                PatientOptions.builder().livenessTimeout(Patience.BOUND).build());
        closedLast(() -> engine.close().block(Patience.BOUND));
        return engine;
    }
}
