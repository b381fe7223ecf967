package io.sluice.engine.transport.shm;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.ProtocolException;
import io.sluice.engine.SluiceException;
import io.sluice.testkit.FuzzSeed;
import io.sluice.testkit.Patience;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A peer may write anything into the control segment at any time: that ends the connection at most. */
class HostileRingTest {
    private static final ValueLayout.OfInt LENGTH = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final int FUZZED_PEERS = 60;
    private static final int CHANGES = 200;

    private ProcessResources before;
    private LoneEndpoint endpoint;
    private FakePeer peer;
    private ControlSegment.Direction toEndpoint;
    private ControlSegment.Direction fromEndpoint;

    @BeforeEach
    void meet() {
        LoneEndpoint.accepting().close();
        before = ProcessResources.now();
        meetAgain();
    }

    private void meetAgain() {
        endpoint = LoneEndpoint.accepting();
        peer = FakePeer.metBy(endpoint);
        toEndpoint = peer.segment().direction(true);
        fromEndpoint = peer.segment().direction(false);
    }

    @AfterEach
    void everythingIsGivenBack() {
        part();
        before.assertRegained();
    }

    private void part() {
        endpoint.close();
        peer.close();
    }

    private void assertFailsTyped() throws InterruptedException {
        peer.link().wake();
        SluiceException failure = endpoint.nextFailure();
        assertThat(failure).isInstanceOf(ProtocolException.class);
        peer.assertLinkEnds();
    }

    private void message(byte... bytes) {
        MemorySegment ring = toEndpoint.ring();
        long at = toEndpoint.produced();
        ring.set(LENGTH, at, bytes.length);
        MemorySegment.copy(bytes, 0, ring, ValueLayout.JAVA_BYTE, at + Integer.BYTES, bytes.length);
        toEndpoint.produced(at + Integer.BYTES + bytes.length);
        peer.link().wake();
    }

    @ParameterizedTest
    @ValueSource(longs = {-1, Long.MIN_VALUE, Long.MAX_VALUE, ControlSegment.RING_BYTES + 1})
    void producersPositionOutOfRange(long position) throws InterruptedException {
        toEndpoint.produced(position);
        assertFailsTyped();
    }

    /** The connection may go on for a moment, to hear the peer's goodbye. */
    @Test
    void damagedRingIsLookedAtOnce() {
        endpoint.keepWhenFailed();
        toEndpoint.produced(-1);
        peer.link().wake();
        assertThat(endpoint.nextFailure()).isInstanceOf(ProtocolException.class);
        // a few cycles
        for (int i = 0; i < 5; i++) {
            endpoint.settle();
        }
        assertThat(endpoint.hasFailed()).isFalse();
    }

    @Test
    void producersPositionBackwards() throws InterruptedException {
        message(new byte[] {1, 2, 3});
        assertThat(endpoint.nextNotification()).containsExactly(1, 2, 3);
        toEndpoint.produced(2);
        assertFailsTyped();
    }

    @Test
    void producersPositionBackwardsBeyondTheSmallestNumber() throws InterruptedException {
        message(new byte[] {1, 2, 3});
        endpoint.nextNotification();
        toEndpoint.produced(Long.MIN_VALUE + 3);
        assertFailsTyped();
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, Integer.MIN_VALUE, Integer.MAX_VALUE, 1 << 30})
    void lengthsOutOfRange(int length) throws InterruptedException {
        toEndpoint.ring().set(LENGTH, 0, length);
        toEndpoint.produced(Integer.BYTES);
        assertFailsTyped();
    }

    @ParameterizedTest
    @ValueSource(longs = {-1, Long.MIN_VALUE, Long.MAX_VALUE, 8})
    void consumersPositionOutOfRangeWhenSomethingIsSent(long position) throws InterruptedException {
        fromEndpoint.consumed(position);
        endpoint.notify(new byte[3]);
        assertFailsTyped();
    }

    @Test
    void consumersPositionOutOfRangeWhileSomethingWaits() throws InterruptedException {
        endpoint.notify(new byte[2 * ControlSegment.RING_BYTES]);
        endpoint.settle();
        assertThat(endpoint.hasFailed()).isFalse();
        fromEndpoint.consumed(fromEndpoint.produced() + 1);
        assertFailsTyped();
    }

    @Test
    void consumersPositionBackwards() throws InterruptedException {
        endpoint.notify(new byte[100]);
        endpoint.settle();
        fromEndpoint.consumed(104);
        endpoint.notify(new byte[100]);
        endpoint.settle();
        assertThat(endpoint.hasFailed()).isFalse();
        fromEndpoint.consumed(50);
        endpoint.notify(new byte[100]);
        assertFailsTyped();
    }

    @Test
    void doorbellsThatRingForNothingAreHeardAndNoMore() throws InterruptedException {
        for (int i = 0; i < 1000; i++) {
            toEndpoint.tellChanged();
            toEndpoint.takeParked();
            fromEndpoint.takeStarved();
            fromEndpoint.parked(i % 2 == 0);
            peer.link().wake();
        }
        Patience.until("the doorbell is heard", () -> endpoint.wordsChangedCount() > 0);
        message(new byte[] {7});
        assertThat(endpoint.nextNotification()).containsExactly(7);
        assertThat(endpoint.hasFailed()).isFalse();
    }

    @Test
    void anythingAtAnyTime() {
        FuzzSeed seed = FuzzSeed.of("HostileRingTest");
        int failures = 0;
        for (int i = 0; i < seed.scaled(FUZZED_PEERS); i++) {
            part();
            meetAgain();
            Random random = seed.random(i);
            for (int change = 0; change < CHANGES && !endpoint.hasFailed(); change++) {
                change(random);
            }
            failures += endpoint.hasFailed() ? 1 : 0;
            // it still has the memory, but the endpoint does not look at it any more
            change(random);
        }
        assertThat(failures).isPositive();
    }

    private void change(Random random) {
        MemorySegment ring = toEndpoint.ring();
        switch (random.nextInt(8)) {
            case 0 ->
                ring.set(ValueLayout.JAVA_BYTE, random.nextInt(ControlSegment.RING_BYTES), (byte) random.nextInt());
            case 1 -> ring.set(LENGTH, random.nextInt(ControlSegment.RING_BYTES - 4), random.nextInt(200) - 1);
            case 2 -> toEndpoint.produced(toEndpoint.produced() + random.nextInt(300));
            case 3 -> endpoint.notify(new byte[random.nextInt(2000)]);
            case 4 -> fromEndpoint.consumed(fromEndpoint.produced() - (random.nextInt(10) == 0 ? 1 : 0));
            case 5 -> toEndpoint.tellChanged();
            case 6 -> fromEndpoint.parked(random.nextBoolean());
            default -> {
                if (random.nextInt(20) == 0) {
                    toEndpoint.produced(random.nextLong());
                }
            }
        }
        if (!endpoint.hasFailed()) {
            peer.link().wake();
        }
    }
}
