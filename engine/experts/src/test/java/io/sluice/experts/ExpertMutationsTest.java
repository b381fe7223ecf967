package io.sluice.experts;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.sluice.engine.SluiceException;
import io.sluice.testkit.MutatedClasses;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Each fault of {@link Mutations} fails a test that is named here, which passes without it. */
class ExpertMutationsTest {
    private static final String TEST = "EveryFormTest";
    private static final String LOW_LATENCY = "lowLatencyBringsEveryRankItsTokensAndSums";
    private static final String NORMAL = "normalModeBringsEveryRankItsTokensAndSums";

    @ParameterizedTest
    @CsvSource({
        "droppedContribution, NormalHandle, sentCount, " + NORMAL,
        "swappedChoices, LowLatencyLayout, combineSlotAt, " + LOW_LATENCY,
        "earlySignal, CombineCall, hasArrived, " + LOW_LATENCY,
        "earlyRows, NormalDispatch, haveRows, " + NORMAL,
        "earlyVectors, NormalCombine, haveArrived, " + NORMAL,
        "staleBuffer, NormalSlots, slot, " + NORMAL,
        "offsetByOne, NormalHandle, sentRow, " + NORMAL
    })
    void eachFormFails(String mutation, String changedClass, String changedMethod, String test) {
        MutatedClasses classes =
                new MutatedClasses(Mutations.class, "io.sluice.experts." + changedClass, changedMethod, mutation);
        Throwable failure = catchThrowable(() -> classes.run(TEST, test, "tcp", 3));
        assertThat(classes.isChanged())
                .as("there is a method %s of %s to change", changedMethod, changedClass)
                .isTrue();
        // of another rank than the one that has found wrong elements, and then revokes the team
        assertThat(failure).as(mutation).isInstanceOfAny(AssertionError.class, SluiceException.class);
        System.out.println("ExpertMutationsTest: " + mutation + " fails by " + failure);
    }

    @ParameterizedTest
    @ValueSource(strings = {LOW_LATENCY, NORMAL})
    void withoutAMutationEachFormPasses(String test) throws Throwable {
        new MutatedClasses(Mutations.class, "", "", "").run(TEST, test, "tcp", 3);
    }
}
