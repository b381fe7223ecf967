package io.sluice.jni;

import static io.sluice.jni.VerbsPeer.handle;
import static io.sluice.jni.VerbsPeer.ok;
import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.testkit.Patience;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class VerbsCompletionQueueTest {
    private static final int MANY = 100;
    private static final VarHandle INT = ValueLayout.JAVA_INT.varHandle();

    private final VerbsPeer here = new VerbsPeer(SoftAdapter.FIRST_DEVICE);
    private final VerbsPeer there = new VerbsPeer(SoftAdapter.SECOND_DEVICE);
    private final long[] pairs = VerbsPeer.connect(here, there);

    @AfterEach
    void close() {
        here.close();
        there.close();
    }

    @Test
    void an_empty_queue_gives_nothing_and_touches_nothing() {
        MemorySegment records = here.arena.allocate(VerbsCompletionQueue.RECORD_BYTES, 8);
        records.fill((byte) 0x55);
        assertThat(VerbsCompletionQueue.poll(here.completions, records.address(), 1))
                .isZero();
        assertThat(records.toArray(ValueLayout.JAVA_BYTE)).containsOnly(0x55);
    }

    @Test
    void many_completions_come_at_once_and_in_order() {
        postWrites(MANY, VerbsQueuePair.SIGNALED);
        MemorySegment records = here.arena.allocate((long) (MANY + 1) * VerbsCompletionQueue.RECORD_BYTES, 8);
        records.fill((byte) 0x55);
        int count = 0;
        long start = System.nanoTime();
        while (count < MANY) {
            int room = MANY - count;
            count += ok(VerbsCompletionQueue.poll(
                    here.completions, records.address() + (long) count * VerbsCompletionQueue.RECORD_BYTES, room));
            assertThat(System.nanoTime() - start).isLessThan(Patience.BOUND.toNanos());
        }
        for (int i = 0; i < MANY; i++) {
            assertThat(VerbsPeer.completionAt(records, i))
                    .isEqualTo(new VerbsPeer.Completion(
                            i,
                            VerbsCompletionQueue.SUCCESS,
                            0,
                            0,
                            VerbsQueuePair.number(pairs[0]),
                            VerbsCompletionQueue.WRITE,
                            0));
        }
        assertThat(records.asSlice((long) MANY * VerbsCompletionQueue.RECORD_BYTES)
                        .toArray(ValueLayout.JAVA_BYTE))
                .containsOnly(0x55);
    }

    @Test
    void more_completions_than_are_taken_from_the_adapter_at_once_come_in_one_call() throws Exception {
        postWrites(MANY, 0);
        postWrites(1, VerbsQueuePair.SIGNALED);
        assertThat(here.completion().succeeded()).isTrue();
        postWrites(MANY, VerbsQueuePair.SIGNALED);
        MemorySegment records = here.arena.allocate((long) MANY * VerbsCompletionQueue.RECORD_BYTES, 8);
        // The last write arrives last.
        there.memory.set(ValueLayout.JAVA_INT, 512, 0);
        here.memory.set(ValueLayout.JAVA_INT, 512, 1);
        MemorySegment last = here.requests(1);
        here.request(last, pairs[0], 0, there, VerbsQueuePair.WRITE, 0, 516);
        assertThat(VerbsQueuePair.post(last.address(), 1)).isEqualTo(1);
        long start = System.nanoTime();
        while ((int) INT.getVolatile(there.memory, 512L) == 0) {
            assertThat(System.nanoTime() - start).isLessThan(Patience.BOUND.toNanos());
            Thread.onSpinWait();
        }
        assertThat(VerbsCompletionQueue.poll(here.completions, records.address(), MANY))
                .isEqualTo(MANY);
        Set<Long> ids = new HashSet<>();
        for (int i = 0; i < MANY; i++) {
            ids.add(VerbsPeer.completionAt(records, i).id());
        }
        assertThat(ids).hasSize(MANY);
    }

    @Test
    void an_error_tells_no_more_than_the_adapter_says() {
        MemorySegment requests = here.requests(2);
        here.request(requests, pairs[0], 41, there, VerbsQueuePair.READ, VerbsQueuePair.SIGNALED, 64);
        requests.set(
                ValueLayout.JAVA_INT,
                VerbsQueuePair.RECORD_REMOTE_KEY_OFFSET,
                VerbsMemory.remoteKey(there.region) ^ 0x5a5a);
        here.request(VerbsPeer.requestAt(requests, 1), pairs[0], 42, there, VerbsQueuePair.READ, 0, 64);
        assertThat(VerbsQueuePair.post(requests.address(), 2)).isEqualTo(2);

        VerbsPeer.Completion failed = here.completion();
        assertThat(failed.id()).isEqualTo(41);
        assertThat(failed.status()).isEqualTo(VerbsCompletionQueue.REMOTE_ACCESS_ERROR);
        assertThat(failed.queuePair()).isEqualTo(VerbsQueuePair.number(pairs[0]));
        assertThat(new int[] {failed.bytes(), failed.opcode(), failed.immediate()})
                .containsOnly(0);
        VerbsPeer.Completion flushed = here.completion();
        assertThat(flushed.id()).isEqualTo(42);
        assertThat(flushed.status()).isEqualTo(VerbsCompletionQueue.FLUSHED);
        assertThat(new int[] {flushed.bytes(), flushed.opcode(), flushed.immediate()})
                .containsOnly(0);
    }

    @Test
    void a_notification_comes_once_for_each_request() throws Exception {
        int descriptor = VerbsCompletionQueue.channelDescriptor(here.channel);
        assertThat(VerbsCompletionQueue.takeEvents(here.channel, here.completions))
                .isZero();
        ok(VerbsCompletionQueue.requestNotification(here.completions));
        postWrites(3, VerbsQueuePair.SIGNALED);
        SocketPair.awaitReady(descriptor, Epoll.READABLE);
        for (int i = 0; i < 3; i++) {
            assertThat(here.completion().succeeded()).isTrue();
        }
        assertThat(VerbsCompletionQueue.takeEvents(here.channel, here.completions))
                .isEqualTo(1);
        assertThat(VerbsCompletionQueue.takeEvents(here.channel, here.completions))
                .isZero();
    }

    @Test
    void events_of_another_queue_on_the_channel_are_acknowledged_too() throws Exception {
        long other = handle(VerbsCompletionQueue.create(here.device, 1, here.channel));
        ok(VerbsCompletionQueue.requestNotification(here.completions));
        postWrites(1, VerbsQueuePair.SIGNALED);
        SocketPair.awaitReady(VerbsCompletionQueue.channelDescriptor(here.channel), Epoll.READABLE);
        assertThat(VerbsCompletionQueue.takeEvents(here.channel, other)).isZero();
        // Would wait for ever for an event without acknowledgement; so would that of the other in close().
        ok(VerbsCompletionQueue.destroy(other));
    }

    @Test
    void queues_without_room_or_in_use_are_errors() {
        assertThat(VerbsCompletionQueue.create(here.device, 0, 0)).isEqualTo(-Errno.EINVAL);
        assertThat(VerbsCompletionQueue.create(here.device, Integer.MAX_VALUE, 0))
                .isEqualTo(-Errno.EINVAL);
        long plain = handle(VerbsCompletionQueue.create(here.device, 10, 0));
        assertThat(VerbsCompletionQueue.entries(plain)).isGreaterThanOrEqualTo(10);
        ok(VerbsCompletionQueue.destroy(plain));
        assertThat(VerbsCompletionQueue.destroy(here.completions)).isEqualTo(-Errno.EBUSY);
        assertThat(VerbsCompletionQueue.destroyChannel(here.channel)).isEqualTo(-Errno.EBUSY);
    }

    @Test
    void bad_arguments_are_errors() {
        long records = here.arena.allocate(64, 8).address();
        assertThat(VerbsCompletionQueue.poll(here.completions, records, 0)).isEqualTo(-Errno.EINVAL);
        assertThat(VerbsCompletionQueue.poll(here.completions, records + 4, 1)).isEqualTo(-Errno.EINVAL);
        assertThat(VerbsCompletionQueue.poll(here.completions, 0, 1)).isEqualTo(-Errno.EINVAL);
        assertThat(VerbsCompletionQueue.poll(0, records, 1)).isEqualTo(-Errno.EINVAL);
        assertThat(VerbsCompletionQueue.takeEvents(here.channel, 0)).isEqualTo(-Errno.EINVAL);
        assertThat(VerbsCompletionQueue.requestNotification(0)).isEqualTo(-Errno.EINVAL);
    }

    @Test
    void a_status_has_words() {
        assertThat(VerbsCompletionQueue.statusText(VerbsCompletionQueue.SUCCESS))
                .isEqualTo("success");
        assertThat(VerbsCompletionQueue.statusText(VerbsCompletionQueue.REMOTE_ACCESS_ERROR))
                .isEqualTo("remote access error");
        assertThat(VerbsCompletionQueue.statusText(-1)).isEqualTo("unknown");
        assertThat(VerbsCompletionQueue.statusText(Integer.MAX_VALUE)).isEqualTo("unknown");
    }

    private void postWrites(int count, int flags) {
        MemorySegment requests = here.requests(count);
        for (int i = 0; i < count; i++) {
            here.request(VerbsPeer.requestAt(requests, i), pairs[0], i, there, VerbsQueuePair.WRITE, flags, 256);
        }
        assertThat(VerbsQueuePair.post(requests.address(), count)).isEqualTo(count);
    }
}
