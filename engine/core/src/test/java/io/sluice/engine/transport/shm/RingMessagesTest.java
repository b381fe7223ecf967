package io.sluice.engine.transport.shm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.sluice.engine.ProtocolException;
import io.sluice.jni.Sockets;
import io.sluice.testkit.FuzzSeed;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Both ends of a ring, on a control segment that is mapped twice, as two processes do it. */
class RingMessagesTest {
    private static final int MOST_BYTES = 200_000;
    private static final int RANDOM_MESSAGES = 400;

    private ControlSegment made;
    private ControlSegment mapped;
    private OutgoingMessages outgoing;
    private final List<byte[]> received = new ArrayList<>();

    @BeforeEach
    void map() {
        ControlSegment.Made both = ControlSegment.make();
        made = both.segment();
        mapped = ControlSegment.of(both.descriptor());
        Sockets.close(both.descriptor());
        outgoing = new OutgoingMessages(made.direction(true));
    }

    @AfterEach
    void unmap() {
        made.close();
        mapped.close();
    }

    private IncomingMessages incoming(int mostBytes, Consumer<byte[]> listener) {
        return new IncomingMessages(mapped.direction(true), mostBytes, listener);
    }

    private static byte[] message(int number, int bytes) {
        byte[] message = new byte[bytes];
        new Random(number).nextBytes(message);
        return message;
    }

    private void goAndTakeUntilEmpty(IncomingMessages incoming) {
        while (outgoing.isWaiting() || incoming.hasSome()) {
            assertThat(outgoing.goOn() | incoming.take())
                    .as("one of both can go on")
                    .isTrue();
        }
    }

    @ParameterizedTest
    @ValueSource(
            ints = {
                0,
                1,
                3,
                4,
                5,
                ControlSegment.RING_BYTES - 5,
                ControlSegment.RING_BYTES - 4,
                ControlSegment.RING_BYTES - 3,
                ControlSegment.RING_BYTES,
                ControlSegment.RING_BYTES + 1,
                2 * ControlSegment.RING_BYTES - 4,
                MOST_BYTES
            })
    void messagesOfASizeAtEveryPlaceOfTheRing(int bytes) {
        IncomingMessages incoming = incoming(MOST_BYTES, received::add);
        for (int number = 0; number < 40; number++) {
            // so that the next begins elsewhere
            outgoing.add(message(number, number));
            outgoing.add(message(number, bytes));
            goAndTakeUntilEmpty(incoming);
            assertThat(received).hasSize(2);
            assertThat(received.get(0)).isEqualTo(message(number, number));
            assertThat(received.get(1)).isEqualTo(message(number, bytes));
            received.clear();
        }
        assertThat(incoming.take()).isFalse();
        assertThat(outgoing.goOn()).isFalse();
        assertThat(outgoing.canGoOn()).isFalse();
    }

    @Test
    void lengthItselfIsCutByTheRingsEnd() {
        for (int before = ControlSegment.RING_BYTES - 12; before < ControlSegment.RING_BYTES; before++) {
            outgoing = new OutgoingMessages(made.direction(true));
            made.direction(true).produced(0);
            made.direction(true).consumed(0);
            IncomingMessages incoming = incoming(MOST_BYTES, received::add);
            outgoing.add(message(1, before - Integer.BYTES));
            goAndTakeUntilEmpty(incoming);
            outgoing.add(message(2, 30));
            goAndTakeUntilEmpty(incoming);
            assertThat(received.get(1)).isEqualTo(message(2, 30));
            received.clear();
        }
    }

    @Test
    void anySizesInAnyInterleaving() {
        FuzzSeed seed = FuzzSeed.of("RingMessagesTest");
        Random random = seed.random();
        ArrayDeque<byte[]> expected = new ArrayDeque<>();
        IncomingMessages incoming = incoming(MOST_BYTES, bytes -> {
            byte[] next = expected.removeFirst();
            assertThat(Arrays.equals(bytes, next))
                    .as("a message of %d bytes, where one of %d was sent", bytes.length, next.length)
                    .isTrue();
        });
        int sent = 0;
        int total = seed.scaled(RANDOM_MESSAGES);
        while (sent < total || !expected.isEmpty()) {
            switch (random.nextInt(4)) {
                case 0 -> {
                    if (sent < total && outgoing.hasRoom()) {
                        int bytes = random.nextInt(random.nextInt(3) == 0 ? MOST_BYTES + 1 : 3000);
                        byte[] message = message(sent++, bytes);
                        expected.add(message);
                        outgoing.add(message);
                    }
                }
                case 1, 2 -> outgoing.goOn();
                default -> incoming.take();
            }
        }
        assertThat(outgoing.isWaiting()).isFalse();
        assertThat(incoming.hasSome()).isFalse();
    }

    @Test
    void fullRingTakesNothingMoreUntilSomeIsTaken() {
        IncomingMessages incoming = incoming(MOST_BYTES, received::add);
        outgoing.add(message(1, ControlSegment.RING_BYTES));
        assertThat(outgoing.goOn()).isTrue();
        assertThat(outgoing.canGoOn()).isFalse();
        assertThat(outgoing.goOn()).isFalse();
        assertThat(outgoing.isWaiting()).isTrue();
        assertThat(incoming.take()).isTrue();
        assertThat(received).isEmpty();
        assertThat(outgoing.canGoOn()).isTrue();
        goAndTakeUntilEmpty(incoming);
        assertThat(received).hasSize(1);
    }

    @Test
    void onlySoManyWait() {
        int count = 0;
        while (outgoing.hasRoom()) {
            outgoing.add(message(count++, ControlSegment.RING_BYTES));
            assertThat(count).isLessThan(1000);
        }
        assertThat(count).isPositive();
    }

    @Test
    void longestHonestMessageIsTakenAndALongerOneRefused() {
        IncomingMessages incoming = incoming(1000, received::add);
        outgoing.add(message(1, 1000));
        goAndTakeUntilEmpty(incoming);
        assertThat(received).hasSize(1);
        outgoing.add(message(2, 1001));
        outgoing.goOn();
        assertThatExceptionOfType(ProtocolException.class)
                .isThrownBy(incoming::take)
                .withMessageContaining("1001 bytes");
    }

    @Test
    void directionsDoNotMix() {
        OutgoingMessages back = new OutgoingMessages(mapped.direction(false));
        IncomingMessages there = incoming(MOST_BYTES, received::add);
        List<byte[]> returned = new ArrayList<>();
        IncomingMessages here = new IncomingMessages(made.direction(false), MOST_BYTES, returned::add);
        outgoing.add(message(1, 500));
        back.add(message(2, 700));
        outgoing.goOn();
        back.goOn();
        there.take();
        here.take();
        assertThat(received).singleElement().isEqualTo(message(1, 500));
        assertThat(returned).singleElement().isEqualTo(message(2, 700));
    }
}
