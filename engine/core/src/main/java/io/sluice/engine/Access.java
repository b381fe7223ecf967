package io.sluice.engine;

import java.util.Collections;
import java.util.EnumSet;
import java.util.Set;

/** A right that a region's descriptor grants to the peer that holds it. The owner always has every right. */
public enum Access {
    /** The peer may read. */
    REMOTE_READ(1),
    /** The peer may write. */
    REMOTE_WRITE(2);

    private final int bit;

    Access(int bit) {
        this.bit = bit;
    }

    /**
     * Returns the bit that represents this right in a descriptor.
     *
     * @return a power of two below 256
     */
    public int bit() {
        return bit;
    }

    /**
     * Packs rights into the byte that a descriptor carries.
     *
     * @param access the rights, possibly none
     * @return the union of their bits, 0 to 255
     */
    public static int toBits(Set<Access> access) {
        int bits = 0;
        for (Access right : access) {
            bits |= right.bit;
        }
        return bits;
    }

    /**
     * Unpacks the rights of a descriptor.
     *
     * @param bits the union of bits
     * @return an unmodifiable set of rights
     * @throws InvalidDescriptorException if a bit is set that this version does not know
     */
    public static Set<Access> fromBits(int bits) {
        EnumSet<Access> rights = EnumSet.noneOf(Access.class);
        int rest = bits;
        for (Access right : values()) {
            if ((bits & right.bit) != 0) {
                rights.add(right);
                rest &= ~right.bit;
            }
        }
        if (rest != 0) {
            throw new InvalidDescriptorException(
                    "access byte 0x%02x has rights this version does not know".formatted(bits));
        }
        return Collections.unmodifiableSet(rights);
    }
}
