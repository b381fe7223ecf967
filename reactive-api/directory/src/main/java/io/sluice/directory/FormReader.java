package io.sluice.directory;

import io.sluice.engine.RegionOptions;
import java.nio.ByteBuffer;

/** Reads what {@link FormWriter} writes. Nothing that it reads makes it allocate more than the form is long. */
final class FormReader {
    static final int MAX_REGION_NAME_BYTES = RegionOptions.MAX_NAME_BYTES;

    private final ByteBuffer in;

    /** Checks the length, the header and the checksum. */
    FormReader(byte[] form, byte kind, int maxBytes, String what) {
        if (form.length < FormWriter.HEADER_BYTES || form.length > maxBytes) {
            throw new DirectoryFormatException(what + " of " + form.length + " bytes");
        }
        in = ByteBuffer.wrap(form);
        if (in.getShort() != FormWriter.MAGIC) {
            throw new DirectoryFormatException("this is not " + what);
        }
        int version = Byte.toUnsignedInt(in.get());
        if (version != FormWriter.VERSION) {
            throw new DirectoryFormatException(
                    what + " has version " + version + "; this is version " + FormWriter.VERSION);
        }
        if (in.get() != kind || in.getInt() != FormWriter.checksum(form, FormWriter.HEADER_BYTES)) {
            throw new DirectoryFormatException(what + " was damaged");
        }
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

    /** In the shortest form alone, so that one content has one form. */
    long getVariable() {
        long value = 0;
        for (int shift = 0; shift < Long.SIZE; shift += 7) {
            byte next = getByte();
            if ((shift == 63 && next > 1) || (next == 0 && shift > 0)) {
                throw new DirectoryFormatException("a number that is out of form");
            }
            value |= (long) (next & 0x7f) << shift;
            if (next >= 0) {
                return value;
            }
        }
        throw new DirectoryFormatException("a number without an end");
    }

    /** A number of things that take up at least so many bytes each. */
    int getCount(int max, int leastBytesEach) {
        long count = getVariable();
        if (count < 0 || count > max || count > in.remaining() / leastBytesEach) {
            throw new DirectoryFormatException("a count of " + count);
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
            throw new DirectoryFormatException(in.remaining() + " bytes too many");
        }
    }

    private void need(int bytes) {
        if (in.remaining() < bytes) {
            throw new DirectoryFormatException("a form that is cut short");
        }
    }
}
