package io.sluice.samples.trace;

import io.sluice.jni.TextFile;
import io.sluice.jni.TextFormatException;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.EOFException;
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
            throw new IOException(file + ": " + reason(e), e);
        }
    }

    private static String reason(IOException e) {
        return e instanceof EOFException ? "the gzip file is cut off; copy it again" : String.valueOf(e.getMessage());
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
            throw new UncheckedIOException(name + ": " + reason(e), e);
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
        TraceRequest request = parser.parse(lines.bytes());
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

    /** The reaction of a reader to a malformed line. */
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
        private final InputStream in;
        private final String name;
        private final int maxLineBytes;
        private final ByteArrayOutputStream line = new ByteArrayOutputStream();
        private boolean tooLong;
        private boolean blank;
        private long number;

        /**
         * A reader of a stream, which it closes when it is closed itself.
         *
         * @param name of the stream, for messages
         */
        LineReader(InputStream in, String name, int maxLineBytes) {
            this.in = new BufferedInputStream(in, 64 << 10);
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
            if (number == 0) {
                skipMark();
            }
            line.reset();
            tooLong = false;
            blank = true;
            int next = in.read();
            if (next < 0) {
                return false;
            }
            number++;
            for (; next >= 0 && next != '\n'; next = in.read()) {
                tooLong |= line.size() == maxLineBytes;
                blank &= !tooLong && (next == ' ' || next == '\t' || next == '\r');
                if (!tooLong) {
                    line.write(next);
                }
            }
            return true;
        }

        private void skipMark() throws IOException {
            in.mark(TextFile.MOST_MARK_BYTES);
            byte[] first = in.readNBytes(TextFile.MOST_MARK_BYTES);
            in.reset();
            in.skipNBytes(TextFile.markBytes(first, first.length, name));
        }

        /** The current line, without its line feed; meaningless if it is too long. */
        byte[] bytes() {
            return line.toByteArray();
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
            return blank;
        }

        @Override
        public void close() throws IOException {
            in.close();
        }
    }
}
