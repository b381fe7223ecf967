package io.sluice.jni;

import static io.sluice.jni.VerbsPeer.handle;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class VerbsReceiveQueueTest {
    private final VerbsPeer peer = new VerbsPeer(SoftAdapter.FIRST_DEVICE);

    @AfterEach
    void close() {
        peer.close();
    }

    @Test
    void a_full_queue_takes_what_it_can_and_then_nothing() {
        assertThat(VerbsReceiveQueue.depth(peer.receives)).isEqualTo(VerbsPeer.RECEIVE_DEPTH);
        // More than are handed over at once, and more than there is room for.
        int count = VerbsPeer.RECEIVE_DEPTH + 30;
        MemorySegment records = peer.receiveRecords(0, count, 0, 64);
        assertThat(VerbsReceiveQueue.post(peer.receives, records.address(), count))
                .isEqualTo(VerbsPeer.RECEIVE_DEPTH);
        assertThat(VerbsReceiveQueue.post(peer.receives, records.address(), count))
                .isEqualTo(-Errno.ENOMEM);
    }

    @Test
    void what_was_posted_is_used_in_its_order() {
        long[] pairs = VerbsPeer.connect(peer, peer);
        assertThat(VerbsReceiveQueue.post(
                        peer.receives, peer.receiveRecords(500, 3, 4096, 64).address(), 3))
                .isEqualTo(3);
        MemorySegment requests = peer.requests(3);
        for (int i = 0; i < 3; i++) {
            peer.request(VerbsPeer.requestAt(requests, i), pairs[0], i, peer, VerbsQueuePair.SEND, 0, i);
        }
        assertThat(VerbsQueuePair.post(requests.address(), 3)).isEqualTo(3);
        for (int i = 0; i < 3; i++) {
            VerbsPeer.Completion completion = peer.completion();
            assertThat(completion.status()).isZero();
            assertThat(completion.id()).isEqualTo(500 + i);
            assertThat(completion.opcode()).isEqualTo(VerbsCompletionQueue.RECEIVE);
            assertThat(completion.bytes()).isEqualTo(i);
            assertThat(completion.queuePair()).isEqualTo(VerbsQueuePair.number(pairs[1]));
        }
    }

    @Test
    void a_record_that_is_none_is_refused_after_those_before_it() {
        MemorySegment records = peer.receiveRecords(0, 3, 0, 64);
        records.set(
                ValueLayout.JAVA_INT, 2L * VerbsReceiveQueue.RECORD_BYTES + VerbsReceiveQueue.RECORD_LENGTH_OFFSET, -1);
        assertThat(VerbsReceiveQueue.post(peer.receives, records.address(), 3)).isEqualTo(2);
        long last = records.address() + 2 * VerbsReceiveQueue.RECORD_BYTES;
        assertThat(VerbsReceiveQueue.post(peer.receives, last, 1)).isEqualTo(-Errno.EINVAL);
        assertThat(VerbsReceiveQueue.post(peer.receives, records.address(), 0)).isEqualTo(-Errno.EINVAL);
        assertThat(VerbsReceiveQueue.post(peer.receives, records.address() + 1, 1))
                .isEqualTo(-Errno.EINVAL);
        assertThat(VerbsReceiveQueue.post(peer.receives, 0, 1)).isEqualTo(-Errno.EINVAL);
    }

    @Test
    void a_queue_in_use_is_not_destroyed() {
        peer.queuePair();
        assertThat(VerbsReceiveQueue.destroy(peer.receives)).isEqualTo(-Errno.EBUSY);
    }

    @Test
    void a_queue_must_have_a_depth_that_the_device_has() {
        assertThat(VerbsReceiveQueue.create(peer.domain, 0)).isEqualTo(-Errno.EINVAL);
        assertThat(VerbsReceiveQueue.create(peer.domain, Integer.MAX_VALUE)).isEqualTo(-Errno.EINVAL);
        assertThat(VerbsReceiveQueue.destroy(handle(VerbsReceiveQueue.create(peer.domain, 1))))
                .isZero();
    }
}
