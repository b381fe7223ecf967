package io.sluice.samples.control;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MessageFragmentsTest {

    private static final int MAX = 100;
    private static final int ROOM = MAX - MessageFragments.HEADER_BYTES;

    @ParameterizedTest
    @ValueSource(ints = {0, 1, ROOM - 1, ROOM, ROOM + 1, 2 * ROOM, 10 * ROOM + 7})
    void aMessageOfAnyLengthComesThrough(int length) {
        byte[] message = bytes(length);
        List<byte[]> fragments = MessageFragments.split(message, 3, MAX);
        assertThat(fragments).hasSize(Math.max(1, (length + ROOM - 1) / ROOM));
        assertThat(fragments).allSatisfy(fragment -> assertThat(fragment.length).isLessThanOrEqualTo(MAX));
        assertThat(assemble(fragments)).containsExactly(message);
    }

    @Test
    void fragmentsOfSeveralMessagesMayBeMixed() {
        List<byte[]> first = MessageFragments.split(bytes(3 * ROOM), 1, MAX);
        List<byte[]> second = MessageFragments.split(bytes(2 * ROOM), 2, MAX);
        List<byte[]> mixed = List.of(first.get(0), second.get(0), first.get(1), second.get(1), first.get(2));
        assertThat(assemble(mixed)).containsExactly(bytes(2 * ROOM), bytes(3 * ROOM));
    }

    @Test
    void aMissingOrRepeatedOrForeignFragmentIsNoticed() {
        List<byte[]> fragments = MessageFragments.split(bytes(3 * ROOM), 1, MAX);
        assertMalformed(fragments.get(1));
        assertMalformed(fragments.get(0), fragments.get(2));
        assertMalformed(fragments.get(0), fragments.get(0));
        assertMalformed(bytes(5));
        assertMalformed(bytes(50));
    }

    @Test
    void whatABeginningClaimsIsBounded() {
        assertMalformed(header(1, MessageFragments.MAX_MESSAGE_BYTES + 1, 0));
        assertMalformed(header(1, -1, 0));
        byte[][] beginnings = new byte[17][];
        for (int i = 0; i < beginnings.length; i++) {
            beginnings[i] = MessageFragments.split(bytes(2 * ROOM), i, MAX).getFirst();
        }
        assertMalformed(beginnings);
    }

    @Test
    void anotherVersionIsNamed() {
        byte[] fragment = MessageFragments.split(bytes(1), 1, MAX).getFirst();
        fragment[4]++;
        assertThatThrownBy(() -> new MessageFragments.MessageAssembler().accept(fragment))
                .hasMessageContaining("version 2");
    }

    @Test
    void notificationsTooSmallForAHeaderAreRefused() {
        assertThatThrownBy(() -> MessageFragments.split(bytes(1), 1, MessageFragments.HEADER_BYTES))
                .hasMessageContaining("SLUICE_MAX_NOTIFICATION_BYTES");
    }

    @Test
    void damagedFragmentsAreEitherTakenOrMalformed() {
        Random random = new Random(1);
        for (int round = 0; round < 50_000; round++) {
            MessageFragments.MessageAssembler assembler = new MessageFragments.MessageAssembler();
            for (byte[] fragment : MessageFragments.split(bytes(2 * ROOM + 1), round, MAX)) {
                byte[] damaged =
                        Arrays.copyOf(fragment, random.nextInt(8) == 0 ? random.nextInt(MAX) : fragment.length);
                if (damaged.length > 0) {
                    damaged[random.nextInt(damaged.length)] ^= (byte) (1 << random.nextInt(8));
                }
                try {
                    assembler.accept(damaged);
                } catch (MalformedMessageException expected) {
                    break;
                }
            }
        }
    }

    private static void assertMalformed(byte[]... notifications) {
        assertThatThrownBy(() -> assemble(List.of(notifications))).isInstanceOf(MalformedMessageException.class);
    }

    private static List<byte[]> assemble(List<byte[]> notifications) {
        MessageFragments.MessageAssembler assembler = new MessageFragments.MessageAssembler();
        List<byte[]> messages = new ArrayList<>();
        for (byte[] notification : notifications) {
            byte[] message = assembler.accept(notification);
            if (message != null) {
                messages.add(message);
            }
        }
        return messages;
    }

    private static byte[] header(int number, int length, int offset) {
        return ByteBuffer.allocate(MessageFragments.HEADER_BYTES)
                .putInt(MessageFragments.MAGIC)
                .putInt(MessageFragments.VERSION << 24)
                .putInt(number)
                .putInt(length)
                .putInt(offset)
                .array();
    }

    private static byte[] bytes(int length) {
        byte[] bytes = new byte[length];
        new Random(length).nextBytes(bytes);
        return bytes;
    }
}
