package io.sluice.engine;

/** The kind of memory that holds a region's bytes. */
public enum MemoryKind {
    /** Ordinary memory of the host, addressable by the processor. */
    HOST(0),
    /** Memory of an NVIDIA GPU, known to CUDA. The processor does not access it. */
    CUDA(1);

    private final int code;

    MemoryKind(int code) {
        this.code = code;
    }

    /**
     * Returns the code on the wire. Codes never change; a new kind gets a new code.
     *
     * @return 0 to 255
     */
    public int code() {
        return code;
    }

    /**
     * Returns the kind for a code on the wire.
     *
     * @param code the code received
     * @return the kind
     * @throws InvalidDescriptorException if this version does not know it
     */
    public static MemoryKind fromCode(int code) {
        for (MemoryKind kind : values()) {
            if (kind.code == code) {
                return kind;
            }
        }
        throw new InvalidDescriptorException("memory kind " + code + " is not known to this version");
    }
}
