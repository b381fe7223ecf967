package io.sluice.samples.control;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Cuts a message into notifications, which have a largest size. Each carries a header in network byte order:
 *
 * <pre>
 *  0  magic           4 bytes
 *  4  version         1
 *  5  zero            3
 *  8  message number  4
 * 12  message length  4
 * 16  offset          4, of this fragment in the message
 * </pre>
 */
final class MessageFragments {
    static final int HEADER_BYTES = 20;
    static final int MAGIC = 0x534C4B56;
    static final byte VERSION = 2;

    /** Longer messages are refused: the longest input there may be, with its page ids scattered, stays below. */
    static final int MAX_MESSAGE_BYTES = 16 << 20;

    private MessageFragments() {}

    /**
     * The notifications for a message, in order.
     *
     * @param number tells the sender's messages apart
     */
    static List<byte[]> split(byte[] message, int number, int maxNotificationBytes) {
        if (maxNotificationBytes <= HEADER_BYTES) {
            throw new IllegalArgumentException("the other side takes notifications of at most " + maxNotificationBytes
                    + " bytes, which is too little: raise its SLUICE_MAX_NOTIFICATION_BYTES");
        }
        int room = maxNotificationBytes - HEADER_BYTES;
        List<byte[]> fragments = new ArrayList<>(message.length / room + 1);
        int offset = 0;
        do {
            int length = Math.min(room, message.length - offset);
            fragments.add(ByteBuffer.allocate(HEADER_BYTES + length)
                    .putInt(MAGIC)
                    .putInt(VERSION << 24)
                    .putInt(number)
                    .putInt(message.length)
                    .putInt(offset)
                    .put(message, offset, length)
                    .array());
            offset += length;
        } while (offset < message.length);
        return fragments;
    }

    /**
     * Puts fragments together again. The fragments of one message come in order; those of several may be mixed. Its memory
     * is bounded for any input. Confined to one thread at a time.
     */
    static final class MessageAssembler {
        private static final int MAX_INCOMPLETE = 16;

        private final Map<Integer, ByteBuffer> incomplete = new HashMap<>();

        /** The message that a notification completes, or {@code null} if more are to come. */
        byte @Nullable [] accept(byte[] notification) {
            if (notification.length < MessageFragments.HEADER_BYTES) {
                throw new MalformedMessageException(
                        "a notification of " + notification.length + " bytes has no header");
            }
            ByteBuffer in = ByteBuffer.wrap(notification);
            if (in.getInt() != MessageFragments.MAGIC) {
                throw new MalformedMessageException("a notification is no part of a Sluice replay");
            }
            int version = in.get();
            if (version != MessageFragments.VERSION) {
                throw new MalformedMessageException("the other side speaks version " + version
                        + " and this one version " + MessageFragments.VERSION + ": use the same release on both sides");
            }
            if (in.get() != 0 || in.getShort() != 0) {
                throw new MalformedMessageException("a notification's header is damaged");
            }
            return add(in.getInt(), in.getInt(), in.getInt(), in);
        }

        private byte @Nullable [] add(int number, int length, int offset, ByteBuffer part) {
            if (length < 0 || length > MessageFragments.MAX_MESSAGE_BYTES) {
                throw new MalformedMessageException("a message claims to have " + length + " bytes");
            }
            if (offset == 0 && part.remaining() == length && !incomplete.containsKey(number)) {
                byte[] whole = new byte[length];
                part.get(whole);
                return whole;
            }
            if (offset == 0) {
                begin(number, length);
            }
            ByteBuffer message = incomplete.get(number);
            if (message == null || message.capacity() != length || message.position() != offset) {
                throw new MalformedMessageException("a part of message " + number + " is missing or came twice");
            }
            if (part.remaining() == 0 || part.remaining() > message.remaining()) {
                throw new MalformedMessageException("message " + number + " has parts that don't fit");
            }
            message.put(part);
            if (message.hasRemaining()) {
                return null;
            }
            incomplete.remove(number);
            return message.array();
        }

        private void begin(int number, int length) {
            if (incomplete.size() == MAX_INCOMPLETE || incomplete.containsKey(number)) {
                throw new MalformedMessageException("too many messages are begun and not ended");
            }
            incomplete.put(number, ByteBuffer.allocate(length));
        }
    }
}
