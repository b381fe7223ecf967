package io.sluice.comm.rounds;

import static io.sluice.testkit.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.RegionOptions;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferEngine;
import io.sluice.testkit.PatientOptions;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Waits that end while others are told. */
class RoundWaitTest {
    private final TransferEngine engine = TransferEngine.open(
            PatientOptions.builder().transports(List.of("shm")).build());
    private final RoundMemory memory = new RoundMemory(engine.allocate(64, RegionOptions.local()), 0, 0);
    private final RoundWait.Armed armed = new RoundWait.Armed(() -> {});
    private final List<String> told = new ArrayList<>();

    @AfterEach
    void close() {
        await(engine.closeAsync());
    }

    private static String text(String name, SluiceException error) {
        return error == null ? name : name + ", with an error";
    }

    @Test
    void oneThatIsDisarmedAsItsCallbackIsDueIsNotCalledForTheNextValue() {
        RoundWait first = new RoundWait(armed, memory, 0, error -> told.add(text("first", error)));
        // the last one is told first
        RoundWait last = new RoundWait(armed, memory, 8, error -> {
            told.add(text("last", error));
            assertThat(first.disarm()).isTrue();
            first.arm(100);
        });
        first.arm(1);
        last.arm(1);
        memory.add(0, 1);
        memory.add(8, 1);
        armed.look();
        assertThat(told).containsExactly("last");
        memory.add(0, 99);
        armed.look();
        assertThat(told).containsExactly("last", "first");
    }

    @Test
    void aCallbackThatThrowsKeepsNoOtherFromBeingCalled() {
        RoundWait first = new RoundWait(armed, memory, 0, error -> told.add(text("first", error)));
        RoundWait last = new RoundWait(armed, memory, 8, error -> {
            throw new IllegalStateException("of the test");
        });
        first.arm(1);
        last.arm(1);
        memory.add(0, 1);
        memory.add(8, 1);
        armed.look();
        assertThat(told).containsExactly("first");
    }

    @Test
    void whatWaitsInMemoryThatIsGoneIsToldSo() {
        RoundWait before = new RoundWait(armed, memory, 0, error -> told.add(text("before", error)));
        RoundWait after = new RoundWait(armed, memory, 8, error -> told.add(text("after", error)));
        before.arm(1);
        await(memory.region.close());
        after.arm(1);
        assertThat(told).isEmpty();
        armed.look();
        assertThat(told).containsExactly("after, with an error", "before, with an error");
    }
}
