package io.sluice.directory;

import io.sluice.engine.RegionOptions;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/** Reads records of {@link FormWriter}. Never allocates more than the record's length. */
final class FormReader {
    static final int MAX_REGION_NAME_BYTES = RegionOptions.MAX_NAME_BYTES;

    private final ByteBuffer in;
    private final String what;

    /**
     * Checks the length, the header and the checksum.
     *
     * @param what the subject of error messages, such as "the entry 'decode/7'"
     */
    FormReader(byte[] form, byte kind, int maxBytes, String what) {
        this.what = what;
        if (form.length < FormWriter.HEADER_BYTES || form.length > maxBytes) {
            throw malformed("it has " + form.length + " bytes");
        }
        in = ByteBuffer.wrap(form);
        if (in.getShort() != FormWriter.MAGIC) {
            throw malformed("it was not written by Sluice");
        }
        int version = Byte.toUnsignedInt(in.get());
        if (version != FormWriter.VERSION) {
            throw new DirectoryFormatException(what + " has version " + version + "; this engine reads version "
                    + FormWriter.VERSION + ": use one release of Sluice everywhere");
        }
        if (in.get() != kind || in.getInt() != FormWriter.checksum(form, FormWriter.HEADER_BYTES)) {
            throw malformed("its checksum or kind is wrong");
        }
    }

    /** Returns the error for a record that is corrupt or written by other software. */
    DirectoryFormatException malformed(String problem) {
        return malformed(problem, null);
    }

    DirectoryFormatException malformed(String problem, @Nullable Throwable cause) {
        return new DirectoryFormatException(what + " is malformed: " + problem + "; publish the engine again", cause);
    }

    int remaining() {
        return in.remaining();
    }

    byte getByte() {
        need(1);
        return in.get();
    }

    long getLong() {
        need(Long.BYTES);
        return in.getLong();
    }

    /** Accepts only the shortest encoding, so that each content has a single form. */
    long getVariable() {
        long value = 0;
        for (int shift = 0; shift < Long.SIZE; shift += 7) {
            byte next = getByte();
            if ((shift == 63 && next > 1) || (next == 0 && shift > 0)) {
                throw malformed("a number is not in the shortest form");
            }
            value |= (long) (next & 0x7f) << shift;
            if (next >= 0) {
                return value;
            }
        }
        throw malformed("a number has more than 64 bits");
    }

    /** Reads a number of items that take at least this many bytes each. */
    int getCount(int max, int leastBytesEach) {
        long count = getVariable();
        if (count < 0 || count > max || count > in.remaining() / leastBytesEach) {
            throw malformed("it has a count of " + count);
        }
        return (int) count;
    }

    byte[] getBytes(int max) {
        byte[] bytes = new byte[getCount(max, 1)];
        in.get(bytes);
        return bytes;
    }

    void end() {
        if (in.hasRemaining()) {
            throw malformed(in.remaining() + " bytes follow its end");
        }
    }

    private void need(int bytes) {
        if (in.remaining() < bytes) {
            throw malformed("it is truncated");
        }
    }
}
