package io.sluice.engine.session;

/** The acceptor's first message, and which part of it the proofs cover: all but the proof itself. */
final class Welcome {
    static final int CONNECTION_ID_BYTES = 16;

    private static final int[] PROVEN = {
        Tag.ENGINE_ID,
        Tag.EPOCH,
        Tag.NONCE,
        Tag.CONNECTION_ID,
        Tag.TRANSPORT,
        Tag.NOTIFICATION_CREDITS,
        Tag.MAX_NOTIFICATION_BYTES,
        Tag.LIVENESS_MILLIS,
        Tag.AUTHENTICATION
    };

    private Welcome() {}

    /** The proven fields in a fixed order, whatever else a later version adds. */
    static byte[] unproven(FieldReader fields) {
        FieldWriter writer = new FieldWriter();
        for (int tag : PROVEN) {
            writer.put(tag, fields.bytes(tag));
        }
        return writer.toBytes();
    }
}
