package io.sluice.engine.bootstrap;

import io.sluice.engine.control.MessageType;

/**
 * The features of an engine beyond the first version of the protocol, a bit each. Both sides say so in their first
 * message, and each uses towards the other only what that one understands.
 */
final class Features {
    /** {@link MessageType#DRAIN} and {@link MessageType#DRAINED}. */
    static final long DRAIN = 1;

    /** Several paths: {@link Tag#PATHS} and {@link Tag#PATH_OFFERS}, and on the control channel which path something is about. */
    static final long PATHS = 1 << 1;

    /** The features of this version. */
    static final long ALL = DRAIN | PATHS;

    private Features() {}

    /** The peer's features; a peer that sends none is of an earlier version, and bits of later versions are ignored. */
    static long read(FieldReader fields) {
        return fields.optional(Tag.FEATURES) == null ? 0 : fields.number(Tag.FEATURES, Long.MIN_VALUE, Long.MAX_VALUE);
    }
}
