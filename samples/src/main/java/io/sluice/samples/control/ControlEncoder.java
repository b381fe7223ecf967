package io.sluice.samples.control;

import io.sluice.samples.control.ControlMessage.Allocate;
import io.sluice.samples.control.ControlMessage.Hello;
import io.sluice.samples.control.ControlMessage.Last;
import io.sluice.samples.control.ControlMessage.Pages;
import io.sluice.samples.control.ControlMessage.Refused;
import io.sluice.samples.control.ControlMessage.Result;
import io.sluice.samples.control.ControlMessage.Welcome;
import io.sluice.samples.kvcache.BlockHashes;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Writes messages: one byte for the type, then the fields in network byte order. A text is its length in two bytes and
 * then UTF-8. Page ids, which mostly follow each other, are written as runs: the first id and how many there are.
 */
final class ControlEncoder {

    /** Longer texts are cut: they are for people, and come from exceptions of any length. */
    static final int MAX_TEXT_BYTES = 8 << 10;

    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private final DataOutputStream out = new DataOutputStream(bytes);

    private ControlEncoder() {}

    static byte[] encode(ControlMessage message) {
        ControlEncoder encoder = new ControlEncoder();
        try {
            switch (message) {
                case Hello hello -> encoder.write(hello);
                case Welcome welcome -> encoder.write(welcome);
                case Allocate allocate -> encoder.write(allocate);
                case Pages pages -> encoder.write(pages);
                case Last last -> encoder.write(last);
                case Result result -> encoder.write(result);
                case Refused refused -> encoder.write(refused);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("memory can always be written", e);
        }
        return encoder.bytes.toByteArray();
    }

    private void write(Hello message) throws IOException {
        type(MessageType.HELLO);
        text(message.model());
        out.writeInt(message.layers());
        out.writeInt(message.pageBytes());
    }

    private void write(Welcome message) throws IOException {
        type(MessageType.WELCOME);
        out.writeInt(message.slots());
        out.write(message.pages().toBytes());
        out.write(message.seals().toBytes());
    }

    private void write(Allocate message) throws IOException {
        type(MessageType.ALLOCATE);
        BlockHashes hashes = message.blockHashes();
        out.writeLong(message.requestId());
        out.writeInt(message.inputTokens());
        out.writeInt(hashes.size());
        for (int i = 0; i < hashes.size(); i++) {
            out.writeLong(hashes.get(i));
        }
    }

    private void write(Pages message) throws IOException {
        type(MessageType.PAGES);
        PageAssignment assignment = message.assignment();
        out.writeLong(message.requestId());
        out.writeInt(assignment.blocks());
        for (int block = 0; block < assignment.blocks(); block++) {
            out.writeByte(assignment.reusedPages(block));
        }
        int moved = assignment.movedPages();
        out.writeInt(moved);
        for (int start = 0; start < moved; ) {
            int end = start + 1;
            while (end < moved && assignment.movedPageId(end) == assignment.movedPageId(end - 1) + 1) {
                end++;
            }
            out.writeInt(assignment.movedPageId(start));
            out.writeInt(end - start);
            start = end;
        }
    }

    private void write(Last message) throws IOException {
        type(MessageType.LAST);
        out.writeLong(message.requestId());
    }

    private void write(Result message) throws IOException {
        type(MessageType.RESULT);
        out.writeLong(message.requestId());
        out.writeLong(message.checkedPages());
        out.writeLong(message.corruptedPages());
    }

    private void write(Refused message) throws IOException {
        type(MessageType.REFUSED);
        out.writeByte(message.reason().code());
        text(message.text());
    }

    private void type(MessageType type) throws IOException {
        out.writeByte(type.code());
    }

    private void text(String text) throws IOException {
        byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
        byte[] kept = utf8.length <= MAX_TEXT_BYTES ? utf8 : Arrays.copyOf(utf8, wholeCharacters(utf8));
        out.writeShort(kept.length);
        out.write(kept);
    }

    /** The longest prefix that fits and ends where a character ends. */
    private static int wholeCharacters(byte[] utf8) {
        int length = MAX_TEXT_BYTES;
        while ((utf8[length] & 0xC0) == 0x80) {
            length--;
        }
        return length;
    }
}
