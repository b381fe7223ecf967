package io.sluice.samples.trace;

import io.sluice.jni.TextFile;
import io.sluice.jni.TextFormatException;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.PushbackInputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.NoSuchElementException;
import java.util.zip.GZIPInputStream;
import org.jspecify.annotations.Nullable;

/**
 * Reads a trace in the Mooncake format, one JSON object a line, in memory that does not grow with its length. Blank
 * lines are ignored, and so is a byte-order mark of UTF-8. Requests may arrive together, but a timestamp smaller than the one
 * before it is malformed, and so is a line of more than {@value #MAX_LINE_BYTES} bytes and a trace without any request.
 */
public final class TraceReader implements TraceSource {
    /** The longest line that is read, in bytes. */
    public static final int MAX_LINE_BYTES = 16 << 20;

    private static final byte[] GZIP = {0x1F, (byte) 0x8B};

    private final String name;
    private final LineReader lines;
    private final Mode mode;
    private final RequestParser parser = new RequestParser();
    private final TraceSource.SkippedLines skipped = new TraceSource.SkippedLines();
    private @Nullable TraceRequest next;
    private @Nullable TraceFormatException failure;
    private boolean anyRequest;
    private boolean ended;
    private long lastTimestamp;
    private long lastTimestampLine;

    /**
     * A reader of a stream, which it closes when it is closed itself.
     *
     * @param name what messages call the trace
     */
    public TraceReader(InputStream in, String name, Mode mode) {
        this(in, name, mode, MAX_LINE_BYTES);
    }

    TraceReader(InputStream in, String name, Mode mode, int maxLineBytes) {
        this.name = name;
        this.lines = new LineReader(in, name, maxLineBytes);
        this.mode = mode;
    }

    /**
     * A reader of a file, which may be packed by gzip, under any name.
     *
     * @throws IOException if the file cannot be opened
     */
    public static TraceReader open(Path file, Mode mode) throws IOException {
        InputStream in = Files.newInputStream(file);
        try {
            return new TraceReader(unpacked(in), file.toString(), mode);
        } catch (IOException e) {
            in.close();
            throw new IOException(file + ": " + e.getMessage(), e);
        }
    }

    private static InputStream unpacked(InputStream in) throws IOException {
        PushbackInputStream whole = new PushbackInputStream(in, GZIP.length);
        byte[] first = whole.readNBytes(GZIP.length);
        whole.unread(first);
        return Arrays.equals(first, GZIP) ? new GZIPInputStream(whole) : whole;
    }

    /**
     * Whether there is another request.
     *
     * @throws TraceFormatException if the trace is malformed; the reader then stays where it is
     * @throws UncheckedIOException if the trace cannot be read
     */
    @Override
    public boolean hasNext() {
        if (next == null && !ended) {
            next = advance();
        }
        return next != null;
    }

    @Override
    public TraceRequest next() {
        if (!hasNext() || next == null) {
            throw new NoSuchElementException(name + " has no more requests");
        }
        TraceRequest request = next;
        next = null;
        return request;
    }

    @Override
    public TraceSource.SkippedLines skipped() {
        return skipped;
    }

    @Override
    public void close() {
        try {
            lines.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private @Nullable TraceRequest advance() {
        if (failure != null) {
            throw failure;
        }
        try {
            while (lines.next()) {
                if (lines.blank()) {
                    continue;
                }
                try {
                    return readLine();
                } catch (RequestParser.MalformedLineException e) {
                    refuse(String.valueOf(e.getMessage()));
                }
            }
        } catch (TextFormatException e) {
            throw fail(TraceFormatException.of(e));
        } catch (IOException e) {
            throw new UncheckedIOException(name + ": " + e.getMessage(), e);
        }
        if (!anyRequest) {
            throw fail(TraceFormatException.ofWhole(name, emptyReason()));
        }
        ended = true;
        return null;
    }

    private TraceRequest readLine() throws RequestParser.MalformedLineException {
        if (lines.tooLong()) {
            throw new RequestParser.MalformedLineException("longer than " + lines.maxLineBytes() + " bytes");
        }
        TraceRequest request = parser.parse(lines.bytes(), lines.length());
        if (request.timestampMillis() < lastTimestamp) {
            throw new RequestParser.MalformedLineException("timestamp " + request.timestampMillis() + " is before the "
                    + lastTimestamp + " of line " + lastTimestampLine);
        }
        lastTimestamp = request.timestampMillis();
        lastTimestampLine = lines.number();
        anyRequest = true;
        return request;
    }

    private void refuse(String reason) {
        if (mode == Mode.STRICT) {
            throw fail(TraceFormatException.atLine(name, lines.number(), reason));
        }
        skipped.add(lines.number(), reason);
    }

    private TraceFormatException fail(TraceFormatException exception) {
        failure = exception;
        return exception;
    }

    private String emptyReason() {
        if (skipped.count() == 0) {
            return "the trace is empty: it has no requests";
        }
        return "the trace has no valid request: " + skipped.count() + " malformed lines were skipped, first "
                + skipped.descriptions().getFirst();
    }

    /** What a reader does about a malformed line. */
    public enum Mode {
        /** It fails with a {@link TraceFormatException}. */
        STRICT,

        /** It leaves the line out and takes note of it. */
        LENIENT
    }

    /**
     * Splits a stream of bytes into lines with bounded memory: of a line that is longer than the bound only the fact is
     * kept.
     */
    static final class LineReader implements Closeable {
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

        boolean tooLong() {
            return tooLong;
        }

        int maxLineBytes() {
            return maxLineBytes;
        }

        long number() {
            return number;
        }

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
}
