package io.sluice.engine.transport.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The error of a process whose limits are too low: it names the limit, and what to do. */
class ScarceResourcesTest {
    private static final String LIMIT_BYTES = "65536";

    @Test
    @Tag("verbs")
    @Tag("softroce")
    void lockedMemoryThatRunsOutIsExplained() {
        TestProcess process =
                TestProcess.with(Map.of("SOFT_ADAPTER_DEVICES", "2", "SOFT_ADAPTER_LOCKED_BYTES", LIMIT_BYTES));
        if (!TestDevices.areInThisProcess()) {
            // the kernel lets root lock what it likes
            process.through("setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups");
        }
        List<String> outcomes = process.through("prlimit", "--memlock=" + LIMIT_BYTES + ":" + LIMIT_BYTES)
                .run(ScarceResources.OUTCOME, ScarceResources.class, "memory", TestDevices.get(0), TestDevices.get(1));
        assertThat(outcomes).hasSize(3);
        assertThat(outcomes.getFirst())
                .startsWith("RegistrationException: ")
                .contains(TestDevices.get(0))
                .contains("ulimit -l")
                .contains(LIMIT_BYTES);
        assertThat(outcomes.get(1)).as("with less memory").isEqualTo("registered 8192 of 8192");
        assertThat(outcomes.get(2)).startsWith("ConnectFailedException: ").contains("ulimit -l");
    }

    @Test
    @Tag("verbs")
    void queuePairsThatRunOutAreExplained() {
        assertThat(SoftAdapter.get()).as("an adapter that can be short of them").isNotNull();
        List<String> outcomes = TestProcess.with(Map.of("SOFT_ADAPTER_DEVICES", "2", "SOFT_ADAPTER_QUEUE_PAIRS", "5"))
                .run(
                        ScarceResources.OUTCOME,
                        ScarceResources.class,
                        "queue pairs",
                        TestDevices.get(0),
                        TestDevices.get(1));
        assertThat(outcomes).hasSize(3);
        assertThat(outcomes.getFirst())
                .startsWith("ConnectFailedException: ")
                .contains("queue pair")
                .contains("fewer");
        assertThat(outcomes.get(1)).isEqualTo("connections 5");
        assertThat(outcomes.get(2)).as("after one is closed").isEqualTo("connected");
    }
}
