package io.sluice.samples.bench;

import java.util.zip.CRC32C;

/** A checksum over payloads and their order. */
final class PayloadSum {

    private final CRC32C crc = new CRC32C();
    private long count;
    private long value;

    void add(byte[] payload) {
        crc.reset();
        crc.update(payload, 0, payload.length);
        count++;
        value = value * 31 + crc.getValue();
    }

    void reset() {
        count = 0;
        value = 0;
    }

    long count() {
        return count;
    }

    long value() {
        return value;
    }
}
