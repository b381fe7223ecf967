package io.sluice.engine.bootstrap;

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
    // fields that an earlier version does not have: they are proven if they are there; whether they may be there the
    // hello has said, which is proven as well
    private static final int[] PROVEN_IF_THERE = {Tag.INTEGRITY, Tag.FEATURES, Tag.PATHS};

    private Welcome() {}

    /** The proven fields in a fixed order, without fields of later versions. */
    static byte[] unproven(FieldReader fields) {
        FieldWriter writer = new FieldWriter();
        for (int tag : PROVEN) {
            writer.put(tag, fields.bytes(tag));
        }
        for (int tag : PROVEN_IF_THERE) {
            byte[] value = fields.optional(tag);
            if (value != null) {
                writer.put(tag, value);
            }
        }
        return writer.toBytes();
    }
}
