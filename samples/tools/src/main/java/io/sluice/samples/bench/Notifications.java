package io.sluice.samples.bench;

import io.sluice.engine.TransferOptions;
import io.sluice.reactor.ReactiveConnection;
import io.vertx.core.buffer.Buffer;
import java.lang.foreign.MemorySegment;
import java.util.zip.CRC32C;
import reactor.core.publisher.Mono;

/** Starts a connection's notifications. With verification each has other bytes, and all go into one checksum. */
final class Notifications implements Submission {
    private final Initiator.ClientConnection face;
    private final ReactiveConnection reactive;
    private final Api api;
    private final boolean verify;
    private final byte[] payload;
    private final PayloadSum sum = new PayloadSum();
    private long number;

    Notifications(Initiator.ClientConnection face, Api api, int size, boolean verify) {
        this.face = face;
        this.reactive = ReactiveConnection.from(face.connection());
        this.api = api;
        this.verify = verify;
        this.payload = new byte[size];
        Pattern.fill(MemorySegment.ofArray(payload), size);
    }

    /** Checksum of the sent notifications; to be read between rounds. */
    PayloadSum sum() {
        return sum;
    }

    @Override
    public void submit(Slot slot, int transfer) {
        if (verify) {
            number++;
            for (int i = 0; i < Math.min(Long.BYTES, payload.length); i++) {
                payload[i] = (byte) (number >>> (8 * i));
            }
            sum.add(payload);
        }
        // The payload is copied before any of them returns.
        switch (api) {
            case ENGINE -> face.connection().notify(payload, TransferOptions.defaults(), slot);
            case REACTOR -> {
                Mono<Void> mono = reactive.notify(payload);
                mono.subscribe(slot);
            }
            case VERTX -> face.requireVertx().notify(Buffer.buffer(payload)).onComplete(slot);
        }
    }

    /** A checksum over payloads and their order. */
    static final class PayloadSum {
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
}
