package io.sluice.samples.control;

import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Puts fragments together again. The fragments of one message come in order; those of several may be mixed. What it
 * holds is bounded for any input. Confined to one thread at a time.
 */
final class MessageAssembler {

    private static final int MAX_INCOMPLETE = 16;

    private final Map<Integer, ByteBuffer> incomplete = new HashMap<>();

    /** The message that a notification completes, or {@code null} if more are to come. */
    byte @Nullable [] accept(byte[] notification) {
        if (notification.length < MessageFragments.HEADER_BYTES) {
            throw new MalformedMessageException("a notification of " + notification.length + " bytes has no header");
        }
        ByteBuffer in = ByteBuffer.wrap(notification);
        if (in.getInt() != MessageFragments.MAGIC) {
            throw new MalformedMessageException("a notification is no part of a Sluice replay");
        }
        int version = in.get();
        if (version != MessageFragments.VERSION) {
            throw new MalformedMessageException("the other side speaks version " + version + " and this one version "
                    + MessageFragments.VERSION + ": use the same release on both sides");
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
