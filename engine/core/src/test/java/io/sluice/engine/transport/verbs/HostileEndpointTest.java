package io.sluice.engine.transport.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.sluice.engine.ProtocolException;
import io.sluice.engine.SluiceException;
import io.sluice.engine.transport.CompletionStatus;
import io.sluice.testkit.FuzzSeed;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Messages of a peer's endpoint, over the control channel or on a lane, are checked: damage ends the connection, and no
 * more.
 */
@Tag("verbs")
class HostileEndpointTest {
    private static final int PEERS = 60;
    private static final int MESSAGES = 40;

    private final FuzzSeed seed = FuzzSeed.of("HostileEndpointTest");

    private static VerbsOptions on(int device) {
        return VerbsOptions.builder().devices(TestDevices.get(device)).build();
    }

    /** Small numbers more often than large ones: they are nearer to what is right. */
    private static long number(Random random) {
        return switch (random.nextInt(4)) {
            case 0 -> random.nextInt(3);
            case 1 -> random.nextInt(80) - 2;
            case 2 -> random.nextInt();
            default -> random.nextLong();
        };
    }

    private static byte[] controlMessage(Random random) {
        byte[] bytes = switch (random.nextInt(6)) {
            case 0, 1 ->
                new VerbsControlMessage.Fence(
                                (int) number(random),
                                (int) number(random),
                                number(random),
                                (int) number(random),
                                (int) number(random),
                                number(random))
                        .toBytes();
            case 2 -> VerbsControlMessage.ready((int) number(random), (int) number(random));
            case 3 -> VerbsControlMessage.ended(number(random));
            case 4 -> VerbsControlMessage.refused((int) number(random), random.nextBoolean());
            default -> {
                byte[] any = new byte[random.nextInt(40)];
                random.nextBytes(any);
                yield any;
            }
        };
        return random.nextInt(4) == 0 ? Arrays.copyOf(bytes, random.nextInt(bytes.length + 1)) : bytes;
    }

    private static void assertProtocolErrorsAlone(LoneEndpoint endpoint) {
        for (SluiceException error : endpoint.failures()) {
            assertThat(error).isInstanceOf(ProtocolException.class);
        }
    }

    @Test
    void messagesOverTheControlChannel() {
        int refused = 0;
        for (int peer = 0; peer < seed.scaled(PEERS); peer++) {
            Random random = seed.random(peer);
            try (LoneEndpoint one = new LoneEndpoint(on(0), 4096);
                    LoneEndpoint other = new LoneEndpoint(on(1), 4096)) {
                one.connect(other);
                for (int i = 0; i < MESSAGES; i++) {
                    try {
                        one.received(ByteBuffer.wrap(controlMessage(random)));
                    } catch (ProtocolException expected) {
                        refused++;
                    }
                }
            }
        }
        assertThat(refused).isPositive();
    }

    @Test
    void cutControlMessagesAreRefused() {
        byte[][] whole = {
            new VerbsControlMessage.Fence(0, 0, 0, 1, 2, -1).toBytes(),
            VerbsControlMessage.ready(0, 1),
            VerbsControlMessage.ended(5),
            VerbsControlMessage.refused(0, true)
        };
        try (LoneEndpoint one = new LoneEndpoint(on(0), 4096);
                LoneEndpoint other = new LoneEndpoint(on(1), 4096)) {
            one.connect(other);
            for (byte[] message : whole) {
                for (int length = 0; length < message.length; length++) {
                    ByteBuffer cut = ByteBuffer.wrap(message, 0, length).slice();
                    assertThatExceptionOfType(ProtocolException.class).isThrownBy(() -> one.received(cut));
                }
            }
        }
    }

    /** A message about an incarnation that has not begun, or has ended, could be mistaken for one about the present. */
    @Test
    void fenceOfAnotherIncarnationIsRefused() {
        try (LoneEndpoint one = new LoneEndpoint(on(0), 4096);
                LoneEndpoint other = new LoneEndpoint(on(1), 4096)) {
            one.connect(other);
            for (int incarnation : new int[] {-1, 1, Integer.MAX_VALUE}) {
                ByteBuffer fence =
                        ByteBuffer.wrap(new VerbsControlMessage.Fence(0, incarnation, 0, 1, 2, -1).toBytes());
                assertThatExceptionOfType(ProtocolException.class).isThrownBy(() -> one.received(fence));
            }
            one.onLane(lane -> assertThat(lane.isOpen()).isTrue());
        }
    }

    private static int laneMessage(Random random, MemorySegment buffer) {
        int type = random.nextInt(5) == 0 ? random.nextInt(256) : random.nextInt(12);
        int words = Math.max(0, VerbsMessage.words(type));
        int body = random.nextInt(3) == 0 ? random.nextInt(VerbsMessage.BYTES) : words * 8 + random.nextInt(3) * 8;
        int length = random.nextInt(8) == 0 ? random.nextInt(VerbsMessage.BYTES + 1) : VerbsMessage.HEADER_BYTES + body;
        ByteBuffer bytes = buffer.asByteBuffer().order(ByteOrder.BIG_ENDIAN);
        bytes.put(0, (byte) type);
        bytes.put(1, (byte) (random.nextInt(4) == 0 ? random.nextInt() : 0));
        bytes.putShort(2, (short) body);
        bytes.putInt(4, random.nextInt(4) == 0 ? (int) number(random) : 0);
        bytes.putInt(8, random.nextInt(4) == 0 ? (int) number(random) : 0);
        for (int at = VerbsMessage.HEADER_BYTES; at + 8 <= VerbsMessage.BYTES; at += 8) {
            bytes.putLong(at, number(random));
        }
        if (random.nextBoolean()) {
            // as if it named the region
            bytes.putLong(VerbsMessage.HEADER_BYTES, LoneEndpoint.HANDLE);
            bytes.putLong(VerbsMessage.HEADER_BYTES + 8, WordRegion.KEY);
            bytes.putLong(VerbsMessage.HEADER_BYTES + 16, WordRegion.EPOCH);
        }
        return Math.min(length, VerbsMessage.BYTES);
    }

    @Test
    void messagesOnALane() {
        int failures = 0;
        for (int peer = 0; peer < seed.scaled(PEERS); peer++) {
            Random random = seed.random(peer);
            try (Arena arena = Arena.ofShared();
                    LoneEndpoint one = new LoneEndpoint(on(0), 4096);
                    LoneEndpoint other = new LoneEndpoint(on(1), 4096)) {
                one.connect(other);
                MemorySegment buffer = arena.allocate(VerbsMessage.BYTES, Long.BYTES);
                for (int i = 0; i < MESSAGES; i++) {
                    int length = laneMessage(random, buffer);
                    one.onLane(lane -> lane.messageReceived(buffer, 0, length));
                    int immediate = (int) number(random);
                    if (random.nextInt(8) == 0) {
                        one.onLane(lane -> lane.immediateReceived(immediate));
                    }
                }
                assertProtocolErrorsAlone(one);
                failures += one.failures().size();
            }
        }
        assertThat(failures).isPositive();
    }

    @Test
    void requestsBeyondThePeersCreditsEndTheConnectionBeforeTheirAnswersPileUp() {
        try (Arena arena = Arena.ofShared();
                LoneEndpoint one = new LoneEndpoint(on(0), 4096);
                LoneEndpoint other = new LoneEndpoint(on(1), 4096)) {
            one.connect(other);
            MemorySegment buffer = arena.allocate(VerbsMessage.BYTES, Long.BYTES);
            ByteBuffer bytes = buffer.asByteBuffer().order(ByteOrder.BIG_ENDIAN);
            int body = VerbsMessage.words(VerbsMessage.FETCH_ADD) * Long.BYTES;
            bytes.put(0, (byte) VerbsMessage.FETCH_ADD);
            bytes.putShort(2, (short) body);
            bytes.putLong(VerbsMessage.HEADER_BYTES, LoneEndpoint.HANDLE);
            bytes.putLong(VerbsMessage.HEADER_BYTES + 8, WordRegion.KEY);
            bytes.putLong(VerbsMessage.HEADER_BYTES + 16, WordRegion.EPOCH);
            // in one task, so that no report of what was received can leave in between
            one.onLane(lane -> {
                for (int i = 0; i < 50 * LaneGroup.CREDITS; i++) {
                    lane.messageReceived(buffer, 0, VerbsMessage.HEADER_BYTES + body);
                }
                assertThat(lane.messages().waiting()).isLessThanOrEqualTo(LaneGroup.CREDITS);
            });
            assertThat(one.failures())
                    .isNotEmpty()
                    .allSatisfy(error -> assertThat(error)
                            .isInstanceOf(ProtocolException.class)
                            .hasMessageContaining("credits"));
        }
    }

    /** Requests of a peer that acknowledges a message now and then, and so gets credits for ever more requests. */
    @Test
    void answersThatThePeerDoesNotTakeAreBounded() {
        try (LoneEndpoint one = new LoneEndpoint(on(0), 4096);
                LoneEndpoint other = new LoneEndpoint(on(1), 4096)) {
            one.connect(other);
            one.onLane(lane -> {
                assertThatExceptionOfType(ProtocolException.class).isThrownBy(() -> {
                    for (int i = 0; i < 100_000; i++) {
                        lane.messages().handled(CompletionStatus.SUCCESS, 1);
                    }
                });
                assertThat(lane.messages().waiting()).isLessThan(10_000);
            });
        }
    }
}
