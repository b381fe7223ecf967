package io.sluice.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.testkit.Patience;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

class WordLockTest {
    private static final long HELD_NANOS = 20_000;

    private final WordLock lock = new WordLock();
    private long count;

    private void add() {
        lock.lock();
        try {
            count++;
        } finally {
            lock.unlock();
        }
    }

    private static CompletableFuture<Void> start(Runnable task) {
        return CompletableFuture.runAsync(
                task, each -> Thread.ofPlatform().daemon().start(each));
    }

    @Test
    void one_thread_at_a_time_has_it() {
        int threads = 4;
        int each = 20_000;
        List<CompletableFuture<Void>> all = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            all.add(start(() -> {
                for (int k = 0; k < each; k++) {
                    add();
                }
            }));
        }
        all.forEach(Patience::await);
        assertThat(count).isEqualTo((long) threads * each);
    }

    /** It has the lock nearly always, and takes it again at once. */
    @Test
    void a_thread_that_goes_on_and_on_lets_others_in() {
        AtomicBoolean stop = new AtomicBoolean();
        CompletableFuture<Void> greedy = start(() -> {
            while (!stop.get()) {
                lock.lock();
                long until = System.nanoTime() + HELD_NANOS;
                while (System.nanoTime() < until) {
                    Thread.onSpinWait();
                }
                lock.unlock();
            }
        });
        try {
            Patience.await(start(() -> {
                for (int i = 0; i < 200; i++) {
                    add();
                }
            }));
        } finally {
            stop.set(true);
        }
        Patience.await(greedy);
        assertThat(count).isEqualTo(200);
    }
}
