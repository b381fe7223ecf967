package io.sluice.samples.bench;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A report of the serving process, a notification that another one asks for.
 *
 * @param cpuNanos processor time of the whole process until now
 * @param notifications how many came on the connection since its checksum was begun
 * @param checksum over their payloads
 */
record ServerReport(long cpuNanos, long notifications, long checksum) {

    private static final long MAGIC = 0x736C_7569_6365_2D31L;
    private static final byte[] REQUEST = "sluice bench: report".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] BEGIN = "sluice bench: begin a checksum".getBytes(StandardCharsets.US_ASCII);

    /** The payload that asks for a report. */
    static byte[] request() {
        return REQUEST.clone();
    }

    static boolean isRequest(byte[] payload) {
        return Arrays.equals(payload, REQUEST);
    }

    /** The payload that begins a checksum of all that comes on the connection after it. */
    static byte[] begin() {
        return BEGIN.clone();
    }

    static boolean isBegin(byte[] payload) {
        return Arrays.equals(payload, BEGIN);
    }

    byte[] toBytes() {
        return ByteBuffer.allocate(4 * Long.BYTES)
                .putLong(MAGIC)
                .putLong(cpuNanos)
                .putLong(notifications)
                .putLong(checksum)
                .array();
    }

    /** The report that a payload is; {@code null} if it is none. */
    static @Nullable ServerReport fromBytes(byte[] payload) {
        ByteBuffer bytes = ByteBuffer.wrap(payload);
        return payload.length == 4 * Long.BYTES && bytes.getLong() == MAGIC
                ? new ServerReport(bytes.getLong(), bytes.getLong(), bytes.getLong())
                : null;
    }
}
