package io.sluice.reactor;

import io.micrometer.observation.tck.TestObservationRegistry;
import io.micrometer.observation.tck.TestObservationRegistryAssert;
import io.sluice.collectives.CollectiveKind;
import io.sluice.collectives.TeamRevokedException;
import io.sluice.reactor.observation.CollectiveObservation.HighCardinalityKey;
import io.sluice.reactor.observation.CollectiveObservation.LowCardinalityKey;
import io.sluice.reactor.observation.ObservedCollectives;
import io.sluice.testkit.Patience;
import org.junit.jupiter.api.Test;
import reactor.test.StepVerifier;

/** Observed collectives of two ranks. */
class ObservedCollectivesTest {
    private final TestObservationRegistry registry = TestObservationRegistry.create();
    private final ObservedCollectives observed = ObservedCollectives.in(registry);

    @Test
    void aCollectiveIsAnObservation() {
        try (ReactiveRanks ranks = ReactiveRanks.form(2)) {
            ReactiveTeam team = ranks.team(1);
            StepVerifier.create(team.barrier().transform(observed.mono(team, CollectiveKind.BARRIER)))
                    .then(() -> ranks.team(0).barrier().block(Patience.BOUND))
                    .expectNextCount(1)
                    .expectComplete()
                    .verify(Patience.BOUND);
        }
        TestObservationRegistryAssert.assertThat(registry)
                .hasSingleObservationThat()
                .hasNameEqualTo("sluice.collective")
                .hasContextualNameEqualTo("barrier")
                .hasBeenStopped()
                .doesNotHaveError()
                .hasLowCardinalityKeyValue(LowCardinalityKey.TEAM.asString(), "team")
                .hasLowCardinalityKeyValue(LowCardinalityKey.KIND.asString(), "barrier")
                .hasLowCardinalityKeyValue(LowCardinalityKey.ALGORITHM.asString(), "dissemination")
                .hasLowCardinalityKeyValue(LowCardinalityKey.OUTCOME.asString(), "success")
                .hasHighCardinalityKeyValue(HighCardinalityKey.RANK.asString(), "1");
    }

    @Test
    void aFailureIsItsOutcome() {
        try (ReactiveRanks ranks = ReactiveRanks.form(1)) {
            ReactiveTeam team = ranks.team(0);
            team.revoke().block(Patience.BOUND);
            StepVerifier.create(team.barrier().transform(observed.mono(team, CollectiveKind.BARRIER)))
                    .expectError(TeamRevokedException.class)
                    .verify(Patience.BOUND);
        }
        TestObservationRegistryAssert.assertThat(registry)
                .hasSingleObservationThat()
                .hasBeenStopped()
                .hasError()
                .hasLowCardinalityKeyValue(LowCardinalityKey.OUTCOME.asString(), "error");
    }
}
