package io.sluice.jni;

import static io.sluice.jni.VerbsPeer.ok;
import static io.sluice.jni.VerbsPeer.requestAt;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class VerbsQueuePairTest {
    private static final int BYTES = 300_000;

    private final VerbsPeer here = new VerbsPeer(SoftAdapter.FIRST_DEVICE);
    private final VerbsPeer there = new VerbsPeer(SoftAdapter.SECOND_DEVICE);

    @AfterEach
    void close() {
        here.close();
        there.close();
    }

    @Test
    void a_queue_pair_goes_through_its_states_and_back() {
        long pair = here.queuePair();
        long other = there.queuePair();
        assertThat(VerbsQueuePair.state(pair)).isEqualTo(VerbsQueuePair.STATE_RESET);
        assertThat(VerbsQueuePair.number(pair)).isPositive();
        assertThat(VerbsQueuePair.sendDepth(pair)).isGreaterThanOrEqualTo(VerbsPeer.SEND_DEPTH);
        assertThat(VerbsQueuePair.inlineBytes(pair)).isGreaterThanOrEqualTo(VerbsPeer.INLINE_BYTES);
        assertThat(VerbsQueuePair.readyToSend(pair, 8, 3, 2, 0, 1)).isEqualTo(-Errno.EINVAL);
        ok(VerbsQueuePair.initialise(pair, 1, 0, VerbsMemory.REMOTE_READ));
        assertThat(VerbsQueuePair.state(pair)).isEqualTo(VerbsQueuePair.STATE_INITIALISED);
        ok(VerbsQueuePair.readyToReceive(
                pair, VerbsPeer.path(here, there, other).address()));
        assertThat(VerbsQueuePair.state(pair)).isEqualTo(VerbsQueuePair.STATE_READY_TO_RECEIVE);
        ok(VerbsQueuePair.readyToSend(pair, 8, 3, 2, 0xffffff, 16));
        assertThat(VerbsQueuePair.state(pair)).isEqualTo(VerbsQueuePair.STATE_READY_TO_SEND);
        ok(VerbsQueuePair.toError(pair));
        assertThat(VerbsQueuePair.state(pair)).isEqualTo(VerbsQueuePair.STATE_ERROR);
        ok(VerbsQueuePair.toReset(pair));
        assertThat(VerbsQueuePair.state(pair)).isEqualTo(VerbsQueuePair.STATE_RESET);
    }

    @ParameterizedTest
    @CsvSource({"0,0,0", "2,0,0", "257,0,0", "1,-1,0", "1,65536,0", "1,0,16", "1,0,32", "1,0,-1"})
    void ports_keys_and_rights_that_are_none_are_errors(int port, int key, int access) {
        assertThat(VerbsQueuePair.initialise(here.queuePair(), port, key, access))
                .isEqualTo(-Errno.EINVAL);
    }

    @ParameterizedTest
    @CsvSource({
        "0,1000",
        "0,0",
        "0,8192",
        "4,-1",
        "4,16777216",
        "8,16777216",
        "12,256",
        "16,32",
        "20,0",
        "20,257",
        "24,256",
        "28,256",
        "32,-1",
        "36,16",
        "40,65536"
    })
    void a_path_with_a_value_out_of_its_range_is_an_error(int offset, int value) {
        long pair = here.queuePair();
        ok(VerbsQueuePair.initialise(pair, 1, 0, 0));
        MemorySegment path = VerbsPeer.path(here, there, there.queuePair());
        path.set(ValueLayout.JAVA_INT, offset, value);
        assertThat(VerbsQueuePair.readyToReceive(pair, path.address())).isEqualTo(-Errno.EINVAL);
        assertThat(VerbsQueuePair.state(pair)).isEqualTo(VerbsQueuePair.STATE_INITIALISED);
    }

    @ParameterizedTest
    @CsvSource({"32,0,0,0,0", "-1,0,0,0,0", "0,8,0,0,0", "0,0,8,0,0", "0,0,0,16777216,0", "0,0,0,0,256"})
    void sending_with_a_value_out_of_its_range_is_an_error(
            int timeout, int retries, int rnrRetries, int sequence, int depth) {
        long pair = here.queuePair();
        ok(VerbsQueuePair.initialise(pair, 1, 0, 0));
        ok(VerbsQueuePair.readyToReceive(
                pair, VerbsPeer.path(here, there, there.queuePair()).address()));
        assertThat(VerbsQueuePair.readyToSend(pair, timeout, retries, rnrRetries, sequence, depth))
                .isEqualTo(-Errno.EINVAL);
    }

    @Test
    void a_write_and_a_read_move_bytes() {
        long pair = VerbsPeer.connect(here, there)[0];
        byte[] bytes = new byte[BYTES];
        new Random(7).nextBytes(bytes);
        here.memory.asSlice(0, BYTES).copyFrom(MemorySegment.ofArray(bytes));

        VerbsPeer.Completion written = post(pair, 1, VerbsQueuePair.WRITE, 0, BYTES);

        assertThat(written.succeeded()).isTrue();
        assertThat(written.opcode()).isEqualTo(VerbsCompletionQueue.WRITE);
        assertThat(written.bytes()).isZero();
        assertThat(there.memory.asSlice(0, BYTES).toArray(ValueLayout.JAVA_BYTE))
                .isEqualTo(bytes);

        here.memory.fill((byte) 0);
        VerbsPeer.Completion read = post(pair, 2, VerbsQueuePair.READ, 0, BYTES);

        assertThat(read.succeeded()).isTrue();
        assertThat(read.opcode()).isEqualTo(VerbsCompletionQueue.READ);
        assertThat(read.bytes()).isEqualTo(BYTES);
        assertThat(here.memory.asSlice(0, BYTES).toArray(ValueLayout.JAVA_BYTE)).isEqualTo(bytes);
    }

    @Test
    void atomics_change_the_peers_memory_and_give_what_it_held() {
        long pair = VerbsPeer.connect(here, there)[0];
        there.memory.set(ValueLayout.JAVA_LONG, 0, 40);
        MemorySegment request = here.requests(1);
        here.request(request, pair, 1, there, VerbsQueuePair.FETCH_ADD, VerbsQueuePair.SIGNALED, 8);
        request.set(ValueLayout.JAVA_LONG, VerbsQueuePair.RECORD_OPERAND_OFFSET, 2);
        assertThat(VerbsQueuePair.post(request.address(), 1)).isEqualTo(1);
        VerbsPeer.Completion added = here.completion();
        assertThat(added.succeeded()).isTrue();
        assertThat(added.opcode()).isEqualTo(VerbsCompletionQueue.FETCH_ADD);
        assertThat(here.memory.get(ValueLayout.JAVA_LONG, 0)).isEqualTo(40);
        assertThat(there.memory.get(ValueLayout.JAVA_LONG, 0)).isEqualTo(42);

        here.request(request, pair, 2, there, VerbsQueuePair.COMPARE_AND_SWAP, VerbsQueuePair.SIGNALED, 8);
        request.set(ValueLayout.JAVA_LONG, VerbsQueuePair.RECORD_OPERAND_OFFSET, 42);
        request.set(ValueLayout.JAVA_LONG, VerbsQueuePair.RECORD_SWAP_OFFSET, -9);
        assertThat(VerbsQueuePair.post(request.address(), 1)).isEqualTo(1);
        VerbsPeer.Completion swapped = here.completion();
        assertThat(swapped.succeeded()).isTrue();
        assertThat(swapped.opcode()).isEqualTo(VerbsCompletionQueue.COMPARE_AND_SWAP);
        assertThat(here.memory.get(ValueLayout.JAVA_LONG, 0)).isEqualTo(42);
        assertThat(there.memory.get(ValueLayout.JAVA_LONG, 0)).isEqualTo(-9);
    }

    @ParameterizedTest
    @CsvSource({"3,128,false", "1,129,true"})
    void an_immediate_comes_with_the_message(int opcode, int received, boolean isWrite) {
        long pair = VerbsPeer.connect(here, there)[0];
        there.receive(900, 4096, 64);
        here.memory.set(ValueLayout.JAVA_LONG, 0, 0x1122334455667788L);
        MemorySegment request = here.requests(1);
        here.request(request, pair, 3, there, opcode, VerbsQueuePair.SIGNALED, 8);
        request.set(ValueLayout.JAVA_INT, VerbsQueuePair.RECORD_IMMEDIATE_OFFSET, 0x80010203);
        assertThat(VerbsQueuePair.post(request.address(), 1)).isEqualTo(1);
        assertThat(here.completion().succeeded()).isTrue();
        VerbsPeer.Completion completion = there.completion();
        assertThat(completion.succeeded()).isTrue();
        assertThat(completion.id()).isEqualTo(900);
        assertThat(completion.opcode()).isEqualTo(received);
        assertThat(completion.bytes()).isEqualTo(8);
        assertThat(completion.immediate()).isEqualTo(0x80010203);
        assertThat(there.memory.get(ValueLayout.JAVA_LONG, isWrite ? 0 : 4096)).isEqualTo(0x1122334455667788L);
    }

    @Test
    void inline_bytes_are_taken_while_posting() {
        long pair = VerbsPeer.connect(here, there)[0];
        MemorySegment request = here.requests(1);
        here.memory.set(ValueLayout.JAVA_LONG, 0, 5);
        int flags = VerbsQueuePair.SIGNALED | VerbsQueuePair.INLINE;
        here.request(request, pair, 4, there, VerbsQueuePair.WRITE, flags, VerbsPeer.INLINE_BYTES);
        request.set(ValueLayout.JAVA_INT, VerbsQueuePair.RECORD_LOCAL_KEY_OFFSET, 0);
        assertThat(VerbsQueuePair.post(request.address(), 1)).isEqualTo(1);
        here.memory.set(ValueLayout.JAVA_LONG, 0, 6);
        assertThat(here.completion().succeeded()).isTrue();
        assertThat(there.memory.get(ValueLayout.JAVA_LONG, 0)).isEqualTo(5);

        int tooMany = VerbsQueuePair.inlineBytes(pair) + 1;
        here.request(request, pair, 5, there, VerbsQueuePair.WRITE, flags, tooMany);
        assertThat(VerbsQueuePair.post(request.address(), 1)).isNegative();
    }

    @Test
    void a_request_without_bytes_needs_no_memory() {
        long pair = VerbsPeer.connect(here, there)[0];
        MemorySegment request = here.requests(1);
        here.request(request, pair, 6, there, VerbsQueuePair.WRITE, VerbsQueuePair.SIGNALED, 0);
        request.set(ValueLayout.JAVA_INT, VerbsQueuePair.RECORD_LOCAL_KEY_OFFSET, 0);
        request.set(ValueLayout.JAVA_LONG, VerbsQueuePair.RECORD_LOCAL_ADDRESS_OFFSET, 0);
        assertThat(VerbsQueuePair.post(request.address(), 1)).isEqualTo(1);
        assertThat(here.completion().succeeded()).isTrue();
    }

    @Test
    void one_call_posts_to_several_queue_pairs_more_than_fit_one_chain() {
        long[] pairs = {
            VerbsPeer.connect(here, there)[0], VerbsPeer.connect(here, there)[0], VerbsPeer.connect(here, there)[0]
        };
        // Runs of 1, 130 and 20, so that chains are short, cut in the middle, and of different queue pairs.
        int[] runs = {1, 130, 20};
        MemorySegment requests = here.requests(151);
        int count = 0;
        for (int run = 0; run < runs.length; run++) {
            for (int i = 0; i < runs[run]; i++) {
                MemorySegment request = requestAt(requests, count);
                here.request(request, pairs[run], count, there, VerbsQueuePair.WRITE, VerbsQueuePair.SIGNALED, 4);
                request.set(
                        ValueLayout.JAVA_LONG, VerbsQueuePair.RECORD_LOCAL_ADDRESS_OFFSET, here.address + 8L * count);
                request.set(
                        ValueLayout.JAVA_LONG, VerbsQueuePair.RECORD_REMOTE_ADDRESS_OFFSET, there.address + 8L * count);
                here.memory.set(ValueLayout.JAVA_INT, 8L * count, count + 1);
                count++;
            }
        }
        assertThat(VerbsQueuePair.post(requests.address(), count)).isEqualTo(count);
        long[] next = {0, 1, 131};
        for (int i = 0; i < count; i++) {
            VerbsPeer.Completion completion = here.completion();
            assertThat(completion.succeeded()).isTrue();
            int run = 0;
            while (VerbsQueuePair.number(pairs[run]) != completion.queuePair()) {
                run++;
            }
            assertThat(completion.id()).isEqualTo(next[run]++);
        }
        for (int i = 0; i < count; i++) {
            assertThat(there.memory.get(ValueLayout.JAVA_INT, 8L * i)).isEqualTo(i + 1);
        }
    }

    @Test
    void one_request_gathers_pieces_and_scatters_what_it_reads() {
        long pair = VerbsPeer.connect(here, there)[0];
        int bytes = 8;
        MemorySegment pieces = here.arena.allocate(VerbsPeer.PIECES * (long) VerbsQueuePair.PIECE_BYTES, 8);
        for (int i = 0; i < VerbsPeer.PIECES; i++) {
            long at = i * (long) VerbsQueuePair.PIECE_BYTES;
            long from = 1024L * (VerbsPeer.PIECES - i);
            pieces.set(ValueLayout.JAVA_LONG, at + VerbsQueuePair.PIECE_ADDRESS_OFFSET, here.address + from);
            pieces.set(ValueLayout.JAVA_INT, at + VerbsQueuePair.PIECE_LENGTH_OFFSET, bytes);
            pieces.set(
                    ValueLayout.JAVA_INT,
                    at + VerbsQueuePair.PIECE_LOCAL_KEY_OFFSET,
                    VerbsMemory.localKey(here.region));
            here.memory.set(ValueLayout.JAVA_LONG, from, i + 1);
        }
        MemorySegment request = here.requests(1);
        int length = VerbsPeer.PIECES * bytes;
        here.request(request, pair, 1, there, VerbsQueuePair.WRITE, VerbsQueuePair.SIGNALED, length);
        request.set(ValueLayout.JAVA_LONG, VerbsQueuePair.RECORD_LOCAL_ADDRESS_OFFSET, pieces.address());
        request.set(ValueLayout.JAVA_INT, VerbsQueuePair.RECORD_PIECES_OFFSET, VerbsPeer.PIECES);
        assertThat(VerbsQueuePair.post(request.address(), 1)).isEqualTo(1);
        assertThat(here.completion().succeeded()).isTrue();
        for (int i = 0; i < VerbsPeer.PIECES; i++) {
            assertThat(there.memory.get(ValueLayout.JAVA_LONG, (long) i * bytes))
                    .isEqualTo(i + 1);
            there.memory.set(ValueLayout.JAVA_LONG, (long) i * bytes, -i);
        }
        request.set(ValueLayout.JAVA_INT, VerbsQueuePair.RECORD_OPCODE_OFFSET, VerbsQueuePair.READ);
        assertThat(VerbsQueuePair.post(request.address(), 1)).isEqualTo(1);
        assertThat(here.completion().succeeded()).isTrue();
        for (int i = 0; i < VerbsPeer.PIECES; i++) {
            assertThat(here.memory.get(ValueLayout.JAVA_LONG, 1024L * (VerbsPeer.PIECES - i)))
                    .isEqualTo(-i);
        }
    }

    @Test
    void a_queue_pair_that_cannot_send_refuses_what_follows_too() {
        long ready = VerbsPeer.connect(here, there)[0];
        long notReady = here.queuePair();
        MemorySegment requests = here.requests(3);
        here.request(requests, ready, 1, there, VerbsQueuePair.WRITE, VerbsQueuePair.SIGNALED, 4);
        here.request(requestAt(requests, 1), notReady, 2, there, VerbsQueuePair.WRITE, VerbsQueuePair.SIGNALED, 4);
        here.request(requestAt(requests, 2), ready, 3, there, VerbsQueuePair.WRITE, VerbsQueuePair.SIGNALED, 4);
        assertThat(VerbsQueuePair.post(requests.address(), 3)).isEqualTo(1);
        assertThat(VerbsQueuePair.post(requestAt(requests, 1).address(), 2)).isEqualTo(-Errno.EINVAL);
        assertThat(here.completion().id()).isEqualTo(1);
    }

    @Test
    void a_full_send_queue_takes_what_it_can_and_then_nothing_until_completions_are_polled() {
        long pair = VerbsPeer.connect(here, there)[0];
        int depth = VerbsQueuePair.sendDepth(pair);
        MemorySegment requests = here.requests(depth + 10);
        for (int i = 0; i < depth + 10; i++) {
            here.request(requestAt(requests, i), pair, i, there, VerbsQueuePair.WRITE, VerbsQueuePair.SIGNALED, 4);
        }
        assertThat(VerbsQueuePair.post(requests.address(), depth + 10)).isEqualTo(depth);
        assertThat(VerbsQueuePair.post(requestAt(requests, depth).address(), 10))
                .isEqualTo(-Errno.ENOMEM);
        for (int i = 0; i < depth; i++) {
            assertThat(here.completion().id()).isEqualTo(i);
        }
        assertThat(VerbsQueuePair.post(requestAt(requests, depth).address(), 10))
                .isEqualTo(10);
    }

    @ParameterizedTest
    @CsvSource({
        "64,7",
        "64,-1",
        "64,2147483647",
        "68,16",
        "68,-1",
        "48,-1",
        "48,-2147483648",
        "0,0",
        "72,-1",
        "72,2147483647"
    })
    void a_record_that_is_none_is_refused_after_those_before_it(int offset, int value) {
        long pair = VerbsPeer.connect(here, there)[0];
        MemorySegment requests = here.requests(3);
        for (int i = 0; i < 3; i++) {
            here.request(requestAt(requests, i), pair, i, there, VerbsQueuePair.WRITE, VerbsQueuePair.SIGNALED, 4);
        }
        MemorySegment bad = requestAt(requests, 1);
        bad.set(ValueLayout.JAVA_INT, offset, value);
        if (offset == 0) {
            bad.set(ValueLayout.JAVA_LONG, offset, value);
        }
        assertThat(VerbsQueuePair.post(requests.address(), 3)).isEqualTo(1);
        assertThat(VerbsQueuePair.post(bad.address(), 2)).isEqualTo(-Errno.EINVAL);
        assertThat(here.completion().id()).isZero();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 4})
    void records_that_are_not_aligned_are_an_error(int offset) {
        assertThat(VerbsQueuePair.post(here.requests(2).address() + offset, 1)).isEqualTo(-Errno.EINVAL);
        long path = here.arena.allocate(VerbsQueuePair.PATH_BYTES + 8, 8).address();
        assertThat(VerbsQueuePair.readyToReceive(here.queuePair(), path + offset))
                .isEqualTo(-Errno.EINVAL);
    }

    @Test
    void nothing_to_post_is_an_error() {
        long requests = here.requests(1).address();
        assertThat(VerbsQueuePair.post(requests, 0)).isEqualTo(-Errno.EINVAL);
        assertThat(VerbsQueuePair.post(requests, -1)).isEqualTo(-Errno.EINVAL);
        assertThat(VerbsQueuePair.post(0, 1)).isEqualTo(-Errno.EINVAL);
    }

    @Test
    void the_error_state_flushes_what_was_posted() {
        long[] pairs = VerbsPeer.connect(here, there);
        ok(VerbsQueuePair.toError(pairs[0]));
        VerbsPeer.Completion flushed = post(pairs[0], 8, VerbsQueuePair.WRITE, 0, 4);
        assertThat(flushed.id()).isEqualTo(8);
        assertThat(flushed.status()).isEqualTo(VerbsCompletionQueue.FLUSHED);
    }

    @Test
    void a_queue_pair_needs_all_its_parts() {
        assertThat(VerbsQueuePair.create(here.domain, here.completions, 0, 1, 1, 0))
                .isEqualTo(-Errno.EINVAL);
        assertThat(VerbsQueuePair.create(here.domain, 0, here.receives, 1, 1, 0))
                .isEqualTo(-Errno.EINVAL);
        assertThat(VerbsQueuePair.create(here.domain, here.completions, here.receives, 0, 1, 0))
                .isEqualTo(-Errno.EINVAL);
        assertThat(VerbsQueuePair.create(here.domain, here.completions, here.receives, 1, 0, 0))
                .isEqualTo(-Errno.EINVAL);
        assertThat(VerbsQueuePair.create(here.domain, here.completions, here.receives, 1, 1, -1))
                .isEqualTo(-Errno.EINVAL);
        assertThat(VerbsQueuePair.create(here.domain, here.completions, here.receives, Integer.MAX_VALUE, 1, 0))
                .isNegative();
    }

    private VerbsPeer.Completion post(long pair, long id, int opcode, int flags, int length) {
        MemorySegment request = here.requests(1);
        here.request(request, pair, id, there, opcode, flags | VerbsQueuePair.SIGNALED, length);
        assertThat(VerbsQueuePair.post(request.address(), 1)).isEqualTo(1);
        return here.completion();
    }
}
