package io.sluice.collectives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.sluice.testkit.MutatedClasses;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Each fault of {@link Mutations} fails a test that is named here, which passes without it. */
class MutationsTest {
    @ParameterizedTest
    @CsvSource({
        "droppedContribution, plan.Plan, step",
        "swappedChunks, plan.Plan, step",
        "earlySignal, link.Link, hasArrived",
        "staleBuffer, link.Link, payloadAt",
        "offsetByOne, plan.Step, toOffset"
    })
    void everyCollectiveGivesEveryRankItsElements(String mutation, String changedClass, String changedMethod) {
        MutatedClasses classes =
                new MutatedClasses(Mutations.class, "io.sluice.collectives." + changedClass, changedMethod, mutation);
        Throwable failure = catchThrowable(
                () -> classes.run("CollectivesTest", "everyCollectiveGivesEveryRankItsElements", "tcp", 3));
        assertThat(classes.isChanged())
                .as("there is a method %s of %s to change", changedMethod, changedClass)
                .isTrue();
        assertThat(failure).as(mutation).isNotNull();
        System.out.println("MutationsTest: " + mutation + " fails by " + failure);
    }

    @ParameterizedTest
    @CsvSource("tcp, 3")
    void withoutAMutationItPasses(String transport, int size) throws Throwable {
        new MutatedClasses(Mutations.class, "", "", "")
                .run("CollectivesTest", "everyCollectiveGivesEveryRankItsElements", transport, size);
    }
}
