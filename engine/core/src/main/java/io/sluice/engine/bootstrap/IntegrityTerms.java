package io.sluice.engine.bootstrap;

import io.sluice.engine.Integrity;

/** How the bootstrap agrees on {@link Integrity}: the connecting side requests, and the accepting side decides. */
final class IntegrityTerms {
    private static final int NONE = 0;
    private static final int CRC32C = 1;

    private IntegrityTerms() {}

    /** The form on the wire. */
    static long write(Integrity integrity) {
        return switch (integrity) {
            case NONE -> NONE;
            case CRC32C -> CRC32C;
        };
    }

    /** The peer's request; a peer that sends none is of an earlier version and supports none. */
    static Integrity read(FieldReader fields) {
        return fields.optional(Tag.INTEGRITY) != null && fields.number(Tag.INTEGRITY, NONE, CRC32C) == CRC32C
                ? Integrity.CRC32C
                : Integrity.NONE;
    }

    /** The stronger request of the two sides applies to both. */
    static Integrity agree(Integrity one, Integrity other) {
        return one == Integrity.NONE ? other : one;
    }
}
