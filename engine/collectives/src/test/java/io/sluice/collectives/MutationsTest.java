package io.sluice.collectives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Each fault of {@link Mutations} fails a test that is named here, which passes without it. */
class MutationsTest {
    /** Runs a test of this module on its classes as a loader has them. */
    private static void run(ClassLoader classes, String test, String method, String transport, int size)
            throws Throwable {
        Class<?> type = Class.forName("io.sluice.collectives." + test, true, classes);
        Constructor<?> constructor = type.getDeclaredConstructor();
        constructor.setAccessible(true);
        Method run = type.getDeclaredMethod(method, String.class, int.class);
        run.setAccessible(true);
        try {
            run.invoke(constructor.newInstance(), transport, size);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    @ParameterizedTest
    @CsvSource({
        "droppedContribution, plan.Plan, step",
        "swappedChunks, plan.Plan, step",
        "earlySignal, link.Link, hasArrived",
        "staleBuffer, link.Link, payloadAt",
        "offsetByOne, plan.Step, toOffset"
    })
    void everyCollectiveGivesEveryRankItsElements(String mutation, String changedClass, String changedMethod) {
        MutatedClasses classes = new MutatedClasses("io.sluice.collectives." + changedClass, changedMethod, mutation);
        Throwable failure = catchThrowable(
                () -> run(classes, "CollectivesTest", "everyCollectiveGivesEveryRankItsElements", "tcp", 3));
        assertThat(classes.isChanged())
                .as("there is a method %s of %s to change", changedMethod, changedClass)
                .isTrue();
        assertThat(failure).as(mutation).isNotNull();
        System.out.println("MutationsTest: " + mutation + " fails by " + failure);
    }

    @ParameterizedTest
    @CsvSource("tcp, 3")
    void withoutAMutationItPasses(String transport, int size) throws Throwable {
        run(
                new MutatedClasses("", "", ""),
                "CollectivesTest",
                "everyCollectiveGivesEveryRankItsElements",
                transport,
                size);
    }
}
