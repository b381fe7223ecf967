package io.sluice.engine.contract;

import static io.sluice.testkit.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.testkit.Patience;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.IntConsumer;
import java.util.stream.Collectors;

/** Calls from many threads at once. */
final class ManyThreads {
    private ManyThreads() {}

    /** Has each thread do the work with its number; returns when all have done it, and fails if one failed. */
    static void run(int count, IntConsumer work) {
        CountDownLatch go = new CountDownLatch(1);
        AtomicReference<Throwable> failure = new AtomicReference<>();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            int number = i;
            threads.add(Thread.ofPlatform().start(() -> {
                try {
                    await(go);
                    work.accept(number);
                } catch (RuntimeException | Error e) {
                    failure.compareAndSet(null, e);
                }
            }));
        }
        go.countDown();
        for (int i = 0; i < count; i++) {
            int number = i;
            Thread thread = threads.get(i);
            try {
                thread.join(Patience.BOUND);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new AssertionError("interrupted while threads work", e);
            }
            assertThat(thread.isAlive())
                    .as(() -> "thread " + number + " of " + count + " hangs; the threads are at " + stacks())
                    .isFalse();
        }
        if (failure.get() != null) {
            throw new AssertionError("a thread failed", failure.get());
        }
    }

    private static String stacks() {
        return Thread.getAllStackTraces().entrySet().stream()
                .map(each -> each.getKey() + " " + Arrays.toString(each.getValue()))
                .collect(Collectors.joining("\n", "\n", ""));
    }
}
