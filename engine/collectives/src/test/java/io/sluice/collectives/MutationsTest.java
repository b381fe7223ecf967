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
        "tcp, droppedContribution, plan.Plan, step",
        "tcp, swappedChunks, plan.Plan, step",
        "tcp, earlySignal, link.Link, hasArrived",
        "tcp, staleBuffer, link.Link, smallAt",
        "tcp, staleBuffer, link.Link, largeAt",
        "tcp, offsetByOne, plan.Step, toOffset",
        "reordering, droppedContribution, plan.Plan, step",
        "reordering, swappedChunks, plan.Plan, step",
        "reordering, earlySignal, link.Link, hasArrived",
        "reordering, staleBuffer, link.Link, smallAt",
        "reordering, staleBuffer, link.Link, largeAt",
        "reordering, offsetByOne, plan.Step, toOffset"
    })
    void everyCollectiveGivesEveryRankItsElements(
            String transport, String mutation, String changedClass, String changedMethod) {
        MutatedClasses classes =
                new MutatedClasses(Mutations.class, "io.sluice.collectives." + changedClass, changedMethod, mutation);
        Throwable failure = catchThrowable(
                () -> classes.run("CollectivesTest", "everyCollectiveGivesEveryRankItsElements", transport, 3));
        assertThat(classes.isChanged())
                .as("there is a method %s of %s to change", changedMethod, changedClass)
                .isTrue();
        assertThat(failure).as("%s over %s", mutation, transport).isNotNull();
        System.out.println("MutationsTest: " + mutation + " over " + transport + " fails by " + failure);
    }

    @ParameterizedTest
    @CsvSource({"tcp, 3", "reordering, 3"})
    void withoutAMutationItPasses(String transport, int size) throws Throwable {
        new MutatedClasses(Mutations.class, "", "", "")
                .run("CollectivesTest", "everyCollectiveGivesEveryRankItsElements", transport, size);
    }
}
