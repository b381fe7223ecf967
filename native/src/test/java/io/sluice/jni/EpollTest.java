package io.sluice.jni;

import static io.sluice.jni.SocketPair.check;
import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.testkit.Patience;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class EpollTest {
    private final Arena arena = Arena.ofShared();
    private final MemorySegment records = arena.allocate(4L * Epoll.RECORD_BYTES, 8);
    private final int epoll = check(Epoll.create());
    private final int event = check(EventDescriptor.create());

    @AfterEach
    void close() {
        check(Sockets.close(event));
        check(Sockets.close(epoll));
        arena.close();
    }

    @Test
    void a_signal_wakes_a_waiting_thread() throws Exception {
        check(Epoll.add(epoll, event, Epoll.READABLE, Long.MIN_VALUE + 3));
        CountDownLatch started = new CountDownLatch(1);
        CompletableFuture<Integer> woken = new CompletableFuture<>();
        Thread waiter = Thread.ofPlatform().start(() -> {
            started.countDown();
            woken.complete(Epoll.await(epoll, records.address(), 4, -1));
        });
        assertThat(started.await(Patience.BOUND.toSeconds(), TimeUnit.SECONDS)).isTrue();

        check(EventDescriptor.signal(event));

        assertThat(woken.get(Patience.BOUND.toSeconds(), TimeUnit.SECONDS)).isEqualTo(1);
        Patience.join(waiter);
        assertThat(records.get(ValueLayout.JAVA_INT, Epoll.RECORD_EVENTS_OFFSET))
                .isEqualTo(Epoll.READABLE);
        assertThat(records.get(ValueLayout.JAVA_INT, 4)).isZero();
        assertThat(records.get(ValueLayout.JAVA_LONG, Epoll.RECORD_DATA_OFFSET)).isEqualTo(Long.MIN_VALUE + 3);
    }

    @Test
    void several_records_come_at_once_and_nothing_behind_them_is_touched() {
        int second = check(EventDescriptor.create());
        records.fill((byte) 0x55);
        try {
            check(Epoll.add(epoll, event, Epoll.WRITABLE, 100));
            check(Epoll.add(epoll, second, Epoll.WRITABLE, 200));

            assertThat(Epoll.await(epoll, records.address(), 2, Patience.BOUND.toNanos()))
                    .isEqualTo(2);

            long first = records.get(ValueLayout.JAVA_LONG, Epoll.RECORD_DATA_OFFSET);
            long other = records.get(ValueLayout.JAVA_LONG, Epoll.RECORD_BYTES + Epoll.RECORD_DATA_OFFSET);
            assertThat(new long[] {first, other}).containsExactlyInAnyOrder(100, 200);
            assertThat(records.asSlice(32).toArray(ValueLayout.JAVA_BYTE)).containsOnly(0x55);
        } finally {
            check(Sockets.close(second));
        }
    }

    @Test
    void polling_does_not_wait() {
        // one that waits would wait for ever, as nothing is watched
        for (int i = 0; i < 1000; i++) {
            assertThat(Epoll.await(epoll, records.address(), 4, 0)).isZero();
        }
    }

    @Test
    void a_wait_lasts_as_long_as_asked() {
        long start = System.nanoTime();
        assertThat(Epoll.await(epoll, records.address(), 4, 20_000_001)).isZero();
        assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(20_000_001L);
    }

    @Test
    void a_wait_may_be_shorter_than_a_millisecond() {
        for (int i = 0; i < 50; i++) {
            long start = System.nanoTime();
            assertThat(Epoll.await(epoll, records.address(), 4, 50_000)).isZero();
            assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(50_000);
        }
    }

    @Test
    void edges_are_reported_once() {
        check(Epoll.add(epoll, event, Epoll.READABLE | Epoll.EDGE, 1));
        check(EventDescriptor.signal(event));
        assertThat(Epoll.await(epoll, records.address(), 4, Patience.BOUND.toNanos()))
                .isEqualTo(1);
        assertThat(Epoll.await(epoll, records.address(), 4, 0)).isZero();
        check(EventDescriptor.signal(event));
        assertThat(Epoll.await(epoll, records.address(), 4, Patience.BOUND.toNanos()))
                .isEqualTo(1);
    }

    @Test
    void what_is_watched_can_change_and_end() {
        assertThat(Epoll.modify(epoll, event, Epoll.READABLE, 1)).isEqualTo(-Errno.ENOENT);
        check(Epoll.add(epoll, event, Epoll.READABLE, 1));
        assertThat(Epoll.add(epoll, event, Epoll.READABLE, 1)).isEqualTo(-Errno.EEXIST);
        assertThat(Epoll.await(epoll, records.address(), 4, 0)).isZero();
        check(Epoll.modify(epoll, event, Epoll.WRITABLE, 2));
        assertThat(Epoll.await(epoll, records.address(), 4, Patience.BOUND.toNanos()))
                .isEqualTo(1);
        assertThat(records.get(ValueLayout.JAVA_LONG, Epoll.RECORD_DATA_OFFSET)).isEqualTo(2);
        check(Epoll.remove(epoll, event));
        assertThat(Epoll.await(epoll, records.address(), 4, 0)).isZero();
        assertThat(Epoll.remove(epoll, event)).isEqualTo(-Errno.ENOENT);
    }

    @Test
    void a_hangup_is_reported_unasked() {
        try (SocketPair pair = SocketPair.open()) {
            check(Sockets.shutdown(pair.client()));
            check(Epoll.add(epoll, pair.client(), 0, 9));
            assertThat(Epoll.await(epoll, records.address(), 4, Patience.BOUND.toNanos()))
                    .isEqualTo(1);
            int events = records.get(ValueLayout.JAVA_INT, Epoll.RECORD_EVENTS_OFFSET);
            assertThat(events & Epoll.HANGUP).isNotZero();
        }
    }

    @Test
    void bad_arguments_are_errors() {
        assertThat(Epoll.await(-1, records.address(), 4, 0)).isEqualTo(-Errno.EBADF);
        assertThat(Epoll.await(epoll, records.address(), 0, 0)).isEqualTo(-Errno.EINVAL);
        check(Epoll.add(epoll, event, Epoll.WRITABLE, 1));
        assertThat(Epoll.await(epoll, 16, 4, 0)).isEqualTo(-Errno.EFAULT);
    }
}
