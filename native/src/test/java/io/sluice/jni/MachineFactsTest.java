package io.sluice.jni;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.testkit.Patience;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class MachineFactsTest {
    @Test
    void the_facts_are_plausible() {
        assertThat(MachineFacts.kernelRelease()).matches("\\d+\\.\\d+.*");
        assertThat(MachineFacts.pageSize()).isGreaterThanOrEqualTo(4096);
        assertThat(Integer.bitCount(MachineFacts.pageSize())).isEqualTo(1);
        assertThat(MachineFacts.lockedMemoryLimit()).isGreaterThanOrEqualTo(-1);
        assertThat(UUID.fromString(MachineFacts.bootId())).hasToString(MachineFacts.bootId());
        assertThat(MachineFacts.onlineProcessors())
                .isGreaterThanOrEqualTo(Runtime.getRuntime().availableProcessors());
        assertThat(MachineFacts.totalMemory()).isGreaterThan(64L << 20);
        assertThat(MachineFacts.cpuModel()).isNotBlank();
    }

    @Test
    void a_thread_can_be_bound_to_a_processor() throws Exception {
        CompletableFuture<Integer> result = new CompletableFuture<>();
        // A thread of its own, because nothing undoes it.
        Thread thread = Thread.ofPlatform().start(() -> {
            int cpu = 0;
            int last;
            do {
                last = MachineFacts.setAffinity(cpu++);
            } while (last == -Errno.EINVAL && cpu < 1024);
            result.complete(last);
        });
        assertThat(result.get(Patience.BOUND.toSeconds(), TimeUnit.SECONDS)).isZero();
        Patience.join(thread);
    }

    @Test
    void a_processor_that_is_not_there_is_an_error() {
        assertThat(MachineFacts.setAffinity(-1)).isEqualTo(-Errno.EINVAL);
        assertThat(MachineFacts.setAffinity(Integer.MAX_VALUE)).isEqualTo(-Errno.EINVAL);
    }
}
