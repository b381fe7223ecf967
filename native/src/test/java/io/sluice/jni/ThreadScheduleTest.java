package io.sluice.jni;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.sluice.testkit.Patience;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class ThreadScheduleTest {
    @Test
    void a_thread_that_runs_is_counted() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment record = arena.allocate(ThreadSchedule.RECORD_BYTES, Long.BYTES);
            int first = ThreadSchedule.read(record.address());
            assumeTrue(first != -Errno.ENOENT && first != -Errno.ENOSYS, "this kernel counts nothing of threads");
            assertThat(first).isZero();
            long ran = record.get(ValueLayout.JAVA_LONG, ThreadSchedule.RECORD_RAN_OFFSET);
            long waited = record.get(ValueLayout.JAVA_LONG, ThreadSchedule.RECORD_WAITED_OFFSET);
            assertThat(ran).isPositive();
            assertThat(waited).isNotNegative();
            Patience.until("it has run on", () -> {
                assertThat(ThreadSchedule.read(record.address())).isZero();
                return record.get(ValueLayout.JAVA_LONG, ThreadSchedule.RECORD_RAN_OFFSET) > ran;
            });
            assertThat(record.get(ValueLayout.JAVA_LONG, ThreadSchedule.RECORD_WAITED_OFFSET))
                    .isGreaterThanOrEqualTo(waited);
        }
    }

    @Test
    void waits_of_a_thread_may_be_exact() throws InterruptedException {
        AtomicInteger result = new AtomicInteger(1);
        Thread thread = new Thread(() -> result.set(ThreadSchedule.exactTimers()));
        thread.start();
        thread.join();
        assertThat(result).hasValue(0);
    }

    @Test
    void no_record_is_an_error() {
        assertThat(ThreadSchedule.read(0)).isEqualTo(-Errno.EINVAL);
    }
}
