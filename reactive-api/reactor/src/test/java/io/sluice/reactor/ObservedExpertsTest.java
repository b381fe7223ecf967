package io.sluice.reactor;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.observation.tck.TestObservationRegistry;
import io.micrometer.observation.tck.TestObservationRegistryAssert;
import io.sluice.experts.ExpertBufferClosedException;
import io.sluice.experts.ExpertCallKind;
import io.sluice.experts.LowLatencyResult;
import io.sluice.reactor.observation.DefaultExpertObservationConvention;
import io.sluice.reactor.observation.ExpertContext;
import io.sluice.reactor.observation.ExpertObservation.HighCardinalityKey;
import io.sluice.reactor.observation.ExpertObservation.LowCardinalityKey;
import io.sluice.reactor.observation.ObservedExperts;
import io.sluice.testkit.Patience;
import org.junit.jupiter.api.Test;
import reactor.test.StepVerifier;

/** Observed calls on expert buffers of two ranks. */
class ObservedExpertsTest {
    private final TestObservationRegistry registry = TestObservationRegistry.create();
    private final ObservedExperts observed = ObservedExperts.in(registry);

    @Test
    void aCallIsAnObservation() {
        try (ReactiveExperts experts = new ReactiveExperts()) {
            StepVerifier.create(experts.dispatch(1)
                            .transform(observed.mono(experts.buffer(1), ExpertCallKind.LOW_LATENCY_DISPATCH)))
                    .then(() -> experts.dispatch(0)
                            .doOnNext(LowLatencyResult::close)
                            .block(Patience.BOUND))
                    .consumeNextWith(LowLatencyResult::close)
                    .expectComplete()
                    .verify(Patience.BOUND);
        }
        TestObservationRegistryAssert.assertThat(registry)
                .hasSingleObservationThat()
                .hasNameEqualTo("sluice.expert.call")
                .hasContextualNameEqualTo("low-latency-dispatch")
                .hasBeenStopped()
                .doesNotHaveError()
                .hasLowCardinalityKeyValue(LowCardinalityKey.TEAM.asString(), "team")
                .hasLowCardinalityKeyValue(LowCardinalityKey.KIND.asString(), "low-latency-dispatch")
                .hasLowCardinalityKeyValue(LowCardinalityKey.OUTCOME.asString(), "success")
                .hasLowCardinalityKeyValue(LowCardinalityKey.ERROR_KIND.asString(), "none")
                .hasHighCardinalityKeyValue(HighCardinalityKey.RANK.asString(), "1");
    }

    @Test
    void aFailureIsItsOutcome() {
        try (ReactiveExperts experts = new ReactiveExperts()) {
            ReactiveExpertBuffer buffer = experts.buffer(0);
            buffer.close().block(Patience.BOUND);
            StepVerifier.create(experts.dispatch(0)
                            .transform(observed.withConvention(new DefaultExpertObservationConvention() {
                                        @Override
                                        public String getContextualName(ExpertContext context) {
                                            assertThat(context.buffer()).isSameAs(buffer.buffer());
                                            return "of a test";
                                        }
                                    })
                                    .mono(buffer, ExpertCallKind.LOW_LATENCY_DISPATCH)))
                    .expectError(ExpertBufferClosedException.class)
                    .verify(Patience.BOUND);
        }
        TestObservationRegistryAssert.assertThat(registry)
                .hasSingleObservationThat()
                .hasContextualNameEqualTo("of a test")
                .hasBeenStopped()
                .hasError()
                .hasLowCardinalityKeyValue(LowCardinalityKey.OUTCOME.asString(), "error");
    }
}
