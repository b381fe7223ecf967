package io.sluice.samples.trace;

import io.sluice.jni.TextFile;
import io.sluice.jni.TextFormatException;
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

    private final InputStream in;
    private final String name;
    private final int maxLineBytes;
    private final byte[] chunk = new byte[CHUNK_BYTES];
    private int chunkStart;
    private int chunkEnd;
    private byte[] line = new byte[4 << 10];
    private int length;
    private boolean tooLong;
    private boolean begun;
    private long number;

    /**
     * A reader of a stream, which it closes when it is closed itself.
     *
     * @param name of the stream, for messages
     */
    LineReader(InputStream in, String name, int maxLineBytes) {
        this.in = in;
        this.name = name;
        this.maxLineBytes = maxLineBytes;
    }

    /**
     * Goes to the next line; false at the end of the stream. A byte-order mark is no part of the first line, and the last
     * one need not end with a line feed.
     *
     * @throws TextFormatException if the stream begins with the mark of another encoding than UTF-8
     */
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
        if (any) {
            number++;
        }
        return any;
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

    int maxLineBytes() {
        return maxLineBytes;
    }

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
        if (!begun) {
            begun = true;
            chunkEnd = in.readNBytes(chunk, 0, TextFile.MOST_MARK_BYTES);
            chunkStart = TextFile.markBytes(chunk, chunkEnd, name);
            return chunkStart < chunkEnd;
        }
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
