package io.sluice.samples.trace;

import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;

/**
 * Splits a stream of bytes into lines with bounded memory: of a line that is longer than the bound only the fact is
 * kept.
 */
final class LineReader implements Closeable {

    private static final int CHUNK_BYTES = 64 << 10;
    private static final byte[] UTF_8_MARK = {(byte) 0xEF, (byte) 0xBB, (byte) 0xBF};

    private final InputStream in;
    private final int maxLineBytes;
    private final byte[] chunk = new byte[CHUNK_BYTES];
    private int chunkStart;
    private int chunkEnd;
    private byte[] line = new byte[4 << 10];
    private int length;
    private boolean tooLong;
    private long number;

    LineReader(InputStream in, int maxLineBytes) {
        this.in = in;
        this.maxLineBytes = maxLineBytes;
    }

    /** Goes to the next line; false at the end of the stream. A last line need not end with a line feed. */
    boolean next() throws IOException {
        length = 0;
        tooLong = false;
        boolean any = false;
        while (fillChunk()) {
            any = true;
            int end = chunkStart;
            while (end < chunkEnd && chunk[end] != '\n') {
                end++;
            }
            append(chunkStart, end);
            if (end < chunkEnd) {
                chunkStart = end + 1;
                break;
            }
            chunkStart = end;
        }
        if (any && ++number == 1) {
            leaveOutMark();
        }
        return any;
    }

    /** A byte-order mark is no part of the text, and the rest of its line may be blank. */
    private void leaveOutMark() {
        if (begins(UTF_8_MARK)) {
            length -= UTF_8_MARK.length;
            System.arraycopy(line, UTF_8_MARK.length, line, 0, length);
        }
    }

    /** Whether the current line has these bytes before all others. */
    boolean begins(byte... bytes) {
        return length >= bytes.length && Arrays.mismatch(line, 0, bytes.length, bytes, 0, bytes.length) < 0;
    }

    /** The current line's bytes, of which the first {@link #length()} count. Overwritten by {@link #next()}. */
    byte[] bytes() {
        return line;
    }

    /** Bytes of the current line, without its line feed; meaningless if it is too long. */
    int length() {
        return length;
    }

    /** Whether the current line is longer than the bound. */
    boolean tooLong() {
        return tooLong;
    }

    /** The bound, in bytes. */
    int maxLineBytes() {
        return maxLineBytes;
    }

    /** The current line's number, from 1. */
    long number() {
        return number;
    }

    /** Whether the current line has nothing but blanks in it. */
    boolean blank() {
        for (int i = 0; i < length; i++) {
            byte b = line[i];
            if (b != ' ' && b != '\t' && b != '\r') {
                return false;
            }
        }
        return !tooLong;
    }

    @Override
    public void close() throws IOException {
        in.close();
    }

    private boolean fillChunk() throws IOException {
        if (chunkStart < chunkEnd) {
            return true;
        }
        chunkStart = 0;
        chunkEnd = Math.max(0, in.read(chunk));
        return chunkEnd > 0;
    }

    private void append(int from, int to) {
        int count = to - from;
        if (tooLong || count > maxLineBytes - length) {
            tooLong = true;
            length = 0;
            return;
        }
        if (count > line.length - length) {
            line = Arrays.copyOf(line, Math.max(length + count, Math.min(line.length * 2, maxLineBytes)));
        }
        System.arraycopy(chunk, from, line, length, count);
        length += count;
    }
}
