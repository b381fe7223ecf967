package io.sluice.reactor;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.common.KeyValues;
import io.micrometer.observation.Observation;
import io.micrometer.observation.tck.TestObservationRegistry;
import io.micrometer.observation.tck.TestObservationRegistryAssert;
import io.sluice.engine.ConnectionLostException;
import io.sluice.engine.EngineMetrics.Operation;
import io.sluice.engine.TransferResult;
import io.sluice.reactor.observation.DefaultTransferObservationConvention;
import io.sluice.reactor.observation.ObservedTransfers;
import io.sluice.reactor.observation.TransferContext;
import io.sluice.reactor.observation.TransferObservation.HighCardinalityKey;
import io.sluice.reactor.observation.TransferObservation.LowCardinalityKey;
import io.sluice.testkit.Patience;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.test.StepVerifier;

/** Transfers without a peer, observed. */
class ObservedTransfersTest {
    private static final Duration LIMIT = Patience.BOUND;
    private static final String NAME = "sluice.transfer";
    // where ObservationThreadLocalAccessor looks
    private static final String CONTEXT_KEY = "micrometer.observation";

    private final TestObservationRegistry registry = TestObservationRegistry.create();
    private final ObservedTransfers observed = ObservedTransfers.in(registry);

    @Test
    void aWriteIsAnObservationFromSubscriptionToEnd() {
        FakeConnection connection = FakeConnection.manual();
        Mono<TransferResult> write = write(connection, 64);
        TestObservationRegistryAssert.assertThat(registry).doesNotHaveAnyObservation();

        StepVerifier.create(write)
                .then(() -> TestObservationRegistryAssert.assertThat(registry)
                        .hasObservationWithNameEqualTo(NAME)
                        .that()
                        .hasBeenStarted()
                        .isNotStopped())
                .then(() -> connection.only().succeed())
                .expectNextCount(1)
                .expectComplete()
                .verify(LIMIT);

        TestObservationRegistryAssert.assertThat(registry)
                .hasSingleObservationThat()
                .hasNameEqualTo(NAME)
                .hasContextualNameEqualTo("write")
                .hasBeenStopped()
                .doesNotHaveError()
                .hasLowCardinalityKeyValue(LowCardinalityKey.OPERATION.asString(), "write")
                .hasLowCardinalityKeyValue(LowCardinalityKey.TRANSPORT.asString(), connection.transport())
                .hasLowCardinalityKeyValue(LowCardinalityKey.OUTCOME.asString(), "success")
                .hasLowCardinalityKeyValue(LowCardinalityKey.ERROR_KIND.asString(), "none")
                .hasHighCardinalityKeyValue(
                        HighCardinalityKey.PEER.asString(), connection.peer().toString())
                .hasHighCardinalityKeyValue(HighCardinalityKey.BYTES.asString(), "64");
    }

    @Test
    void theSubscribersObservationIsTheParentAndTheTransferSeesItsOwn() {
        Observation parent = Observation.start("request", registry);
        FakeConnection connection = FakeConnection.immediate();
        StepVerifier.create(Mono.deferContextual(context -> {
                            Observation own = context.get(CONTEXT_KEY);
                            assertThat(own.getContextView().getName()).isEqualTo(NAME);
                            return connected(connection).write(new FakeRegion(8), connection.remote(), 0);
                        })
                        .transform(observed.mono(connected(connection), Operation.WRITE))
                        .contextWrite(context -> context.put(CONTEXT_KEY, parent)))
                .expectNextCount(1)
                .expectComplete()
                .verify(LIMIT);
        parent.stop();

        TestObservationRegistryAssert.assertThat(registry)
                .hasObservationWithNameEqualTo(NAME)
                .that()
                .hasParentObservationEqualTo(parent)
                .hasBeenStopped();
    }

    @Test
    void eachSubscriberHasItsOwn() {
        Mono<TransferResult> write = write(FakeConnection.immediate(), 8);
        StepVerifier.create(write.repeat(2)).expectNextCount(3).expectComplete().verify(LIMIT);
        TestObservationRegistryAssert.assertThat(registry).hasNumberOfObservationsWithNameEqualTo(NAME, 3);
    }

    @Test
    void anErrorATimeOutAndACancelAreToldApart() {
        FakeConnection lost = FakeConnection.manual();
        StepVerifier.create(write(lost, 8))
                .then(() -> lost.only().end(new ConnectionLostException("lost by the test")))
                .expectError(ConnectionLostException.class)
                .verify(LIMIT);
        StepVerifier.create(Mono.<TransferResult>error(new TimeoutException("late"))
                        .transform(observed.mono(connected(lost), Operation.READ)))
                .expectError(TimeoutException.class)
                .verify(LIMIT);
        StepVerifier.create(write(FakeConnection.manual(), 8)).thenCancel().verify(LIMIT);

        TestObservationRegistryAssert.assertThat(registry)
                .hasAnObservationWithAKeyValue(LowCardinalityKey.ERROR_KIND.asString(), "connection_lost")
                .hasAnObservationWithAKeyValue(LowCardinalityKey.OUTCOME.asString(), "error")
                .hasAnObservationWithAKeyValue(LowCardinalityKey.OUTCOME.asString(), "timeout")
                .hasAnObservationWithAKeyValue(LowCardinalityKey.OUTCOME.asString(), "cancelled")
                .hasNumberOfObservationsWithNameEqualTo(NAME, 3);
    }

    @Test
    void aVectoredTransferIsOneAndCountsAllItsBytes() {
        FakeConnection connection = FakeConnection.immediate();
        Flux<TransferResult> writes = connected(connection)
                .writeVectored(List.of(connection.element(10), connection.element(20)))
                .transform(observed.flux(connected(connection), Operation.WRITE));
        StepVerifier.create(writes).expectNextCount(2).expectComplete().verify(LIMIT);
        TestObservationRegistryAssert.assertThat(registry)
                .hasSingleObservationThat()
                .hasBeenStopped()
                .hasHighCardinalityKeyValue(HighCardinalityKey.BYTES.asString(), "30");
    }

    @Test
    void aConventionGivesOtherNames() {
        FakeConnection connection = FakeConnection.immediate();
        ObservedTransfers own = observed.withConvention(new DefaultTransferObservationConvention() {
            @Override
            public String getName() {
                return "kv.push";
            }

            @Override
            public KeyValues getHighCardinalityKeyValues(TransferContext context) {
                return KeyValues.empty();
            }
        });
        StepVerifier.create(connected(connection)
                        .write(new FakeRegion(8), connection.remote(), 0)
                        .transform(own.mono(connected(connection), Operation.WRITE)))
                .expectNextCount(1)
                .expectComplete()
                .verify(LIMIT);
        TestObservationRegistryAssert.assertThat(registry)
                .hasSingleObservationThat()
                .hasNameEqualTo("kv.push")
                .doesNotHaveHighCardinalityKeyValueWithKey(HighCardinalityKey.PEER.asString());
    }

    private Mono<TransferResult> write(FakeConnection connection, long bytes) {
        return connected(connection)
                .write(new FakeRegion(bytes), connection.remote(), 0)
                .transform(observed.mono(connected(connection), Operation.WRITE));
    }

    private static ReactiveConnection connected(FakeConnection connection) {
        return ReactiveConnection.from(connection);
    }
}
