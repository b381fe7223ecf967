package io.sluice.engine.bootstrap;

import io.sluice.engine.control.MessageType;

/**
 * What an engine understands beyond the first version of the protocol, a bit each. Both sides say so in their first message,
 * and each uses towards the other only what that one understands.
 */
final class Features {
    /** {@link MessageType#DRAIN} and {@link MessageType#DRAINED}. */
    static final long DRAIN = 1;

    /** Several paths: {@link Tag#PATHS} and {@link Tag#PATH_OFFERS}, and on the control channel which path something is about. */
    static final long PATHS = 1 << 1;

    /** What this version understands. */
    static final long ALL = DRAIN | PATHS;

    private Features() {}

    /** What the peer says; a peer that says nothing is of an earlier version, and bits of a later one mean nothing here. */
    static long read(FieldReader fields) {
        return fields.optional(Tag.FEATURES) == null ? 0 : fields.number(Tag.FEATURES, Long.MIN_VALUE, Long.MAX_VALUE);
    }
}
