package io.sluice.samples.control;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

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
     * @param message the whole message
     * @param number tells the sender's messages apart
     * @param maxNotificationBytes the most that a notification may have
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
}
