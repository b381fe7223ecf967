package io.sluice.engine.transport.reordering;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.transport.CompletionStatus;
import io.sluice.engine.transport.RemoteKey;
import io.sluice.engine.transport.WorkRequest;
import io.sluice.testkit.Patience;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The disorder that the endpoints let through, and the disorder that they hide. */
@Tag("filler")
class ReorderingEndpointTest {
    private static final int SEEDS = 10;

    private static OwnedRequest[] writes(LinkedEndpoints ends, ServedMemory served, int count, int bytes) {
        return IntStream.range(0, count)
                .mapToObj(i ->
                        OwnedRequest.write(ends.memory(bytes).fill((byte) (i + 1)), served.key(), (long) i * bytes))
                .toArray(OwnedRequest[]::new);
    }

    private static void assertWritten(ServedMemory served, int count, int bytes) {
        for (int i = 0; i < count; i++) {
            assertThat(served.memory()
                            .segment()
                            .asSlice((long) i * bytes, bytes)
                            .mismatch(MemorySegment.ofArray(new byte[bytes]).fill((byte) (i + 1))))
                    .isEqualTo(-1);
        }
    }

    private static void assertAllSuccess(OwnedRequest... requests) {
        for (OwnedRequest request : requests) {
            assertThat(request.ends()).containsExactly(CompletionStatus.SUCCESS);
        }
    }

    @Test
    void packetsOfAWriteLandInAnotherOrder() {
        int bytes = 256 * 1024;
        int part = (int) Packet.payloadOf(bytes);
        try (LinkedEndpoints ends = new LinkedEndpoints(1, 1)) {
            ServedMemory served = ends.serve(ends.memory(bytes));
            OwnedRequest write = OwnedRequest.write(ends.memory(bytes).fill((byte) 1), served.key(), 0);
            ends.post(write);
            // what straggles is missing in the middle of what has landed
            untilWithoutTime(
                    ends,
                    "a packet lands before another",
                    () -> IntStream.range(1, bytes / part)
                            .anyMatch(i -> landed(served, (long) i * part) && !landed(served, (i - 1L) * part)));
            assertThat(write.ends()).isEmpty();
            assertThat(served.leases()).isEqualTo(1);
            ends.runUntilEnded(write);
            assertAllSuccess(write);
            assertWritten(served, 1, bytes);
        }
    }

    private static boolean landed(ServedMemory served, long at) {
        return served.memory().segment().get(ValueLayout.JAVA_BYTE, at) == 1;
    }

    /** A busy kernel may be late with what is sent. */
    private static void untilWithoutTime(LinkedEndpoints ends, String what, BooleanSupplier condition) {
        Patience.until(what, () -> {
            ends.runWithoutTime();
            return condition.getAsBoolean();
        });
    }

    @Test
    void requestsCompleteInAnotherOrder() {
        int count = 100;
        for (int lanes : new int[] {1, 3}) {
            try (LinkedEndpoints ends = new LinkedEndpoints(2, lanes)) {
                ServedMemory served = ends.serve(ends.memory(count * 64));
                OwnedRequest[] writes = writes(ends, served, count, 64);
                ends.post(writes);
                ends.runUntilEnded(writes);
                assertAllSuccess(writes);
                assertWritten(served, count, 64);
                assertThat(ends.initiator().completions())
                        .containsExactlyInAnyOrder(writes)
                        .isNotEqualTo(List.of(writes));
            }
        }
    }

    @Test
    void readsAndWritesOfManySizesMoveTheirBytes() {
        for (int seed = 0; seed < SEEDS; seed++) {
            try (LinkedEndpoints ends = new LinkedEndpoints(seed, 2)) {
                for (int bytes : new int[] {0, 1, 4096, 4097, 100_001, 4 << 20}) {
                    ServedMemory served = ends.serve(ends.memory(bytes));
                    MemorySegment source = ends.memory(bytes);
                    MemorySegment sink = ends.memory(bytes);
                    for (int i = 0; i < bytes; i++) {
                        source.set(ValueLayout.JAVA_BYTE, i, (byte) (i * 31 + seed));
                    }
                    OwnedRequest write = OwnedRequest.write(source, served.key(), 0);
                    ends.post(write);
                    ends.runUntilEnded(write);
                    OwnedRequest read = OwnedRequest.read(sink, served.key(), 0);
                    ends.post(read);
                    ends.runUntilEnded(read);
                    assertAllSuccess(write, read);
                    assertThat(served.memory().segment().mismatch(source)).isEqualTo(-1);
                    assertThat(sink.mismatch(source)).isEqualTo(-1);
                }
            }
        }
    }

    @Test
    void signalComesAfterAllBytesOfItsWrite() {
        int bytes = 128 * 1024;
        int count = 8;
        for (int seed = 0; seed < SEEDS; seed++) {
            try (LinkedEndpoints ends = new LinkedEndpoints(seed, 2)) {
                ServedMemory served = ends.serve(ends.memory((long) count * bytes));
                List<Integer> signalled = new ArrayList<>();
                OwnedRequest[] writes = writes(ends, served, count, bytes);
                for (int i = 0; i < count; i++) {
                    int number = i;
                    ServedMemory word = ends.serve(ends.memory(8));
                    word.onSignal(() -> {
                        MemorySegment expected = MemorySegment.ofArray(new byte[bytes]);
                        expected.fill((byte) (number + 1));
                        assertThat(served.memory()
                                        .segment()
                                        .asSlice((long) number * bytes, bytes)
                                        .mismatch(expected))
                                .isEqualTo(-1);
                        signalled.add(number);
                    });
                    writes[i].signalling(word.key(), 0, 5);
                }
                ends.post(writes);
                ends.runUntilEnded(writes);
                assertThat(ends.target().failures()).isEmpty();
                assertAllSuccess(writes);
                assertThat(signalled).hasSize(count).doesNotHaveDuplicates();
            }
        }
    }

    @Test
    void refusedWriteLeavesItsSignalAloneAndARefusedSignalFailsItsWrite() {
        try (LinkedEndpoints ends = new LinkedEndpoints(3, 1)) {
            ServedMemory served = ends.serve(ends.memory(100_000));
            ServedMemory word = ends.serve(ends.memory(8));
            MemorySegment source = ends.memory(100_000).fill((byte) 1);
            RemoteKey wrong =
                    new RemoteKey(served.key().handle(), 1, served.key().epoch());
            OwnedRequest refused = OwnedRequest.write(source, wrong, 0).signalling(word.key(), 0, 1);
            OwnedRequest unsignalled =
                    OwnedRequest.write(source, served.key(), 0).signalling(word.key(), 8, 1);
            ends.post(refused);
            ends.runUntilEnded(refused);
            assertThat(refused.ends()).containsExactly(CompletionStatus.BAD_KEY);
            assertThat(served.memory().segment().get(ValueLayout.JAVA_BYTE, 0)).isZero();
            ends.post(unsignalled);
            ends.runUntilEnded(unsignalled);
            assertThat(unsignalled.ends()).containsExactly(CompletionStatus.OUT_OF_BOUNDS);
            assertThat(served.memory().segment().mismatch(source)).isEqualTo(-1);
            assertThat(word.memory().segment().get(ValueLayout.JAVA_LONG, 0)).isZero();
        }
    }

    @Test
    void duplicatesOfAtomicOperationsHaveNoEffect() {
        int count = 1000;
        try (LinkedEndpoints ends = new LinkedEndpoints(4, 3)) {
            ServedMemory word = ends.serve(ends.memory(8));
            OwnedRequest[] additions = IntStream.range(0, count)
                    .mapToObj(i -> OwnedRequest.fetchAdd(word.key(), 0, 1))
                    .toArray(OwnedRequest[]::new);
            ends.post(additions);
            ends.runUntilEnded(additions);
            assertAllSuccess(additions);
            assertThat(word.memory().segment().get(ValueLayout.JAVA_LONG, 0)).isEqualTo(count);
            assertThat(IntStream.range(0, count).mapToLong(i -> additions[i].fetched()))
                    .doesNotHaveDuplicates()
                    .allMatch(before -> before >= 0 && before < count);
        }
    }

    @Test
    void operationsOnWordsDoWhatTheySay() {
        try (LinkedEndpoints ends = new LinkedEndpoints(5, 1)) {
            ServedMemory word = ends.serve(ends.memory(16));
            OwnedRequest put = OwnedRequest.word(WorkRequest.Opcode.PUT, word.key(), 8, 3, 0x1122334455667788L, 0);
            OwnedRequest signal = OwnedRequest.word(WorkRequest.Opcode.SIGNAL, word.key(), 0, 8, -7, 0);
            ends.post(put, signal);
            ends.runUntilEnded(put, signal);
            OwnedRequest swap = OwnedRequest.word(WorkRequest.Opcode.COMPARE_AND_SWAP, word.key(), 0, 8, 99, -7);
            ends.post(swap);
            ends.runUntilEnded(swap);
            OwnedRequest missed = OwnedRequest.word(WorkRequest.Opcode.COMPARE_AND_SWAP, word.key(), 0, 8, 100, -7);
            ends.post(missed);
            ends.runUntilEnded(missed);
            assertAllSuccess(put, signal, swap, missed);
            assertThat(word.memory().segment().get(ValueLayout.JAVA_LONG, 0)).isEqualTo(99);
            assertThat(swap.fetched()).isEqualTo(-7);
            assertThat(missed.fetched()).isEqualTo(99);
            assertThat(word.memory().segment().asSlice(8).toArray(ValueLayout.JAVA_BYTE))
                    .containsExactly(0x88, 0x77, 0x66, 0, 0, 0, 0, 0);
        }
    }

    @Test
    void whatTheWireHoldsIsBounded() {
        int count = 16;
        int bytes = 4 << 20;
        try (LinkedEndpoints ends = new LinkedEndpoints(6, 1)) {
            ServedMemory served = ends.serve(ends.memory((long) count * bytes));
            OwnedRequest[] writes = writes(ends, served, count, bytes);
            ends.post(writes);
            // while time stands still the wire keeps what it delays, until it takes no more
            untilWithoutTime(
                    ends,
                    "the wire takes no more",
                    () -> !ends.target().manualLoop().isReading());
            assertThat(ends.target().endpoint().heldBytes())
                    .isBetween(
                            Wire.CAPACITY_BYTES,
                            Wire.CAPACITY_BYTES
                                    + Disorder.MOST_COPIES * ((long) Packet.MOST_BYTES + ReorderingLane.STAGING_BYTES));
            ends.runUntilEnded(writes);
            assertAllSuccess(writes);
            assertWritten(served, count, bytes);
            assertThat(ends.target().endpoint().heldBytes()).isZero();
        }
    }

    @Test
    void packetsThatMayOvertakeAnotherAreBounded() {
        try (LinkedEndpoints ends = new LinkedEndpoints(7, 1)) {
            ServedMemory word = ends.serve(ends.memory(8));
            List<OwnedRequest> all = new ArrayList<>();
            Patience.until("the target takes no more", () -> {
                int outstanding = all.size() - ends.initiator().completions().size();
                OwnedRequest[] additions = IntStream.range(outstanding, ReorderingEndpoint.MAX_REQUESTS)
                        .mapToObj(i -> OwnedRequest.fetchAdd(word.key(), 0, 1))
                        .toArray(OwnedRequest[]::new);
                all.addAll(List.of(additions));
                ends.post(additions);
                ends.runWithoutTimeAtTarget();
                return !ends.target().manualLoop().isReading();
            });
            assertThat(ends.target().endpoint().heldBytes()).isLessThan(Wire.CAPACITY_BYTES);
            assertThat(all.size()).isGreaterThanOrEqualTo((int) ReorderingLane.MOST_OVERTAKING);
            ends.runUntilEnded(all.toArray(OwnedRequest[]::new));
            assertThat(ends.target().failures()).isEmpty();
            assertThat(word.memory().segment().get(ValueLayout.JAVA_LONG, 0)).isEqualTo(all.size());
        }
    }

    @Test
    void whatIsNotAcceptedIsAskedForLater() {
        try (LinkedEndpoints ends = new LinkedEndpoints(8, 2)) {
            ServedMemory word = ends.serve(ends.memory(8));
            OwnedRequest[] batch = IntStream.range(0, ReorderingEndpoint.MAX_REQUESTS + 10)
                    .mapToObj(i -> OwnedRequest.fetchAdd(word.key(), 0, 1))
                    .toArray(OwnedRequest[]::new);
            int accepted = ends.initiator().endpoint().post(batch, 0, batch.length);
            assertThat(accepted).isEqualTo(ReorderingEndpoint.MAX_REQUESTS);
            assertThat(ends.initiator().postableCalls()).isZero();
            ends.runUntil("there is room", () -> ends.initiator().postableCalls() > 0);
            ends.runUntil("all end", () -> ends.initiator().completions().size() == accepted);
            assertThat(ends.initiator().endpoint().post(batch, accepted, 10)).isEqualTo(10);
            ends.runUntilEnded(batch);
            assertAllSuccess(batch);
        }
    }

    @Test
    void closeEndsEveryRequestOnceAndEveryLease() {
        int count = 200;
        int bytes = 1 << 20;
        try (LinkedEndpoints ends = new LinkedEndpoints(9, 2)) {
            ServedMemory served = ends.serve(ends.memory(bytes));
            OwnedRequest[] requests = IntStream.range(0, count)
                    .mapToObj(i -> i % 2 == 0
                            ? OwnedRequest.write(ends.memory(bytes), served.key(), 0)
                            : OwnedRequest.read(ends.memory(bytes), served.key(), 0))
                    .toArray(OwnedRequest[]::new);
            ends.post(requests);
            ends.runUntil(
                    "some have ended", () -> ends.initiator().completions().size() >= 5);
            OwnedRequest late = OwnedRequest.write(ends.memory(8), served.key(), 0);
            ends.post(late);
            ends.initiator().endpoint().close();
            ends.initiator().endpoint().close();
            ends.target().endpoint().close();
            assertThat(ends.initiator().endpoint().isQuiescent()).isTrue();
            assertThat(late.ends()).containsExactly(CompletionStatus.FLUSHED_UNSENT);
            assertThat(requests)
                    .allSatisfy(request -> assertThat(request.ends()).hasSize(1))
                    .anySatisfy(request -> assertThat(request.ends()).containsExactly(CompletionStatus.FLUSHED));
            assertThat(served.leases()).isZero();
            assertThat(ends.initiator().endpoint().post(requests, 0, 1)).isZero();
        }
    }

    @Test
    void regionThatClosesGetsItsLeasesBackAtOnce() {
        int bytes = 4 << 20;
        try (LinkedEndpoints ends = new LinkedEndpoints(10, 1)) {
            ServedMemory closing = ends.serve(ends.memory(bytes));
            OwnedRequest write = OwnedRequest.write(ends.memory(bytes).fill((byte) 1), closing.key(), 0);
            ends.post(write);
            untilWithoutTime(ends, "the write is carried out", () -> closing.leases() == 1);
            closing.close();
            assertThat(ends.target().endpoint().holdsClosedLease()).isTrue();
            ends.target().endpoint().regionClosing();
            assertThat(ends.target().endpoint().holdsClosedLease()).isFalse();
            assertThat(closing.leases()).isZero();
            MemorySegment asItWas =
                    MemorySegment.ofArray(closing.memory().segment().toArray(ValueLayout.JAVA_BYTE));
            ends.runUntilEnded(write);
            assertThat(write.ends()).containsExactly(CompletionStatus.UNKNOWN_REGION);
            assertThat(closing.memory().segment().mismatch(asItWas)).isEqualTo(-1);

            ServedMemory other = ends.serve(ends.memory(bytes));
            OwnedRequest[] reads = IntStream.range(0, 20)
                    .mapToObj(i -> OwnedRequest.read(ends.memory(bytes), other.key(), 0))
                    .toArray(OwnedRequest[]::new);
            ends.post(reads);
            ends.runUntil("some are being served", () -> other.leases() > 10);
            other.close();
            assertThat(ends.target().endpoint().holdsClosedLease()).isTrue();
            ends.target().endpoint().regionClosing();
            assertThat(other.leases()).isZero();
            ends.runUntilEnded(reads);
            assertThat(reads)
                    .allSatisfy(each -> assertThat(each.ends()).hasSize(1))
                    .anySatisfy(each -> assertThat(each.ends()).containsExactly(CompletionStatus.UNKNOWN_REGION));
        }
    }

    @Test
    void memoryThatWasFreedIsAFaultAndNotTheEndOfTheConnection() {
        int bytes = 4 << 20;
        try (LinkedEndpoints ends = new LinkedEndpoints(11, 1)) {
            ServedMemory served = ends.serve(ends.memory(bytes));
            OwnedRequest[] writes;
            OwnedRequest read;
            ServedMemory freed;
            try (Arena brief = Arena.ofShared()) {
                freed = ends.serve(brief.allocate(bytes, 8));
                MemorySegment source = brief.allocate(bytes);
                writes = IntStream.range(0, 16)
                        .mapToObj(i -> OwnedRequest.write(source, served.key(), 0))
                        .toArray(OwnedRequest[]::new);
                read = OwnedRequest.read(brief.allocate(bytes), served.key(), 0);
                ends.post(writes);
                ends.post(read);
                untilWithoutTime(ends, "a write is carried out", () -> served.leases() > 0);
            }
            ends.runUntilEnded(writes);
            ends.runUntilEnded(read);
            assertThat(writes)
                    .allSatisfy(write -> assertThat(write.ends()).containsExactly(CompletionStatus.LOCAL_MEMORY_FAULT));
            assertThat(read.ends()).containsExactly(CompletionStatus.LOCAL_MEMORY_FAULT);
            assertThat(served.leases()).isZero();

            MemorySegment there = ends.memory(bytes);
            OwnedRequest[] remote = {
                OwnedRequest.write(there, freed.key(), 0),
                OwnedRequest.read(there, freed.key(), 0),
                OwnedRequest.fetchAdd(freed.key(), 0, 1),
                OwnedRequest.word(WorkRequest.Opcode.PUT, freed.key(), 0, 8, 1, 0)
            };
            ends.post(remote);
            ends.runUntilEnded(remote);
            assertThat(remote)
                    .allSatisfy(each -> assertThat(each.ends()).containsExactly(CompletionStatus.REMOTE_MEMORY_FAULT));
            assertThat(freed.leases()).isZero();
            OwnedRequest fine = OwnedRequest.write(there, served.key(), 0);
            ends.post(fine);
            ends.runUntilEnded(fine);
            assertAllSuccess(fine);
            assertThat(ends.initiator().failures()).isEmpty();
            assertThat(ends.target().failures()).isEmpty();
        }
    }

    @Test
    void laneWithWorkThatMakesNoProgressIsStuck() {
        long patience = TimeUnit.SECONDS.toNanos(1);
        try (LinkedEndpoints ends = new LinkedEndpoints(12, 2)) {
            ManualLoop loop = ends.initiator().manualLoop();
            ServedMemory served = ends.serve(ends.memory(8));
            loop.advance(2 * patience);
            assertThat(ends.initiator().endpoint().stuckLane(loop.now(), patience))
                    .as("idle")
                    .isNull();
            ends.post(OwnedRequest.write(ends.memory(8), served.key(), 0));
            loop.cycle();
            assertThat(ends.initiator().endpoint().stuckLane(loop.now(), patience))
                    .as("just begun")
                    .isNull();
            loop.advance(2 * patience);
            assertThat(ends.initiator().endpoint().stuckLane(loop.now(), patience))
                    .contains("made no progress");
        }
    }

    @Test
    void brokenSocketIsReportedOnceAndTouchesNothingMore() {
        try (LinkedEndpoints ends = new LinkedEndpoints(13, 1)) {
            ServedMemory served = ends.serve(ends.memory(8));
            ends.target().endpoint().close();
            OwnedRequest write = OwnedRequest.write(ends.memory(8), served.key(), 0);
            ends.post(write);
            ends.runUntilBroken();
            ends.runWithoutTime();
            assertThat(ends.initiator().failures()).hasSize(1);
            assertThat(write.ends()).isEmpty();
            ends.initiator().endpoint().close();
            assertThat(write.ends()).hasSize(1);
        }
    }
}
