package io.sluice.collectives.cuda;

/** How the bytes of a {@link GpuCollective} go from GPU to GPU. It follows from what ranks have in common: all have the same. */
public enum GpuAlgorithm {
    /** By messages of 8 bytes with flags, into memory of the team on the other GPUs: the least latency, and twice the bytes. */
    MESSAGES("messages"),
    /** By vectors that are pushed into memory of the team on the other GPUs, with a flag behind all that a block of threads sends. */
    PUSHES("pushes"),
    /** Straight from and to the regions of all ranks, between two meetings. */
    DIRECT("direct");

    private final String label;

    GpuAlgorithm(String label) {
        this.label = label;
    }

    /**
     * Returns the name in reports.
     *
     * @return such as {@code messages}
     */
    public String label() {
        return label;
    }
}
