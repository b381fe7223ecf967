package io.sluice.jni;

/** Memory straight from the kernel, by address. */
public final class Memory {
    static {
        NativeLibrary.ensureAvailable();
    }

    private Memory() {}

    /**
     * Maps private anonymous memory: zeroed, aligned to pages, readable and writable.
     *
     * @param bytes how many bytes, at least 1; the kernel rounds up to whole pages
     * @param prefault whether the kernel should give every page its memory now, as far as it can, rather than at the
     *     first touch
     * @return the address, which is always positive, or {@code -errno}: {@code -ENOMEM}, {@code -EINVAL} for a size
     *     below 1
     */
    public static native long map(long bytes, boolean prefault);

    /**
     * Unmaps memory of {@link #map}. A later access crashes the process.
     *
     * @param address the address that {@link #map} returned
     * @param bytes the same size
     * @return 0, or {@code -errno}: {@code -EINVAL} for a size below 1 or an address that is not a page's
     */
    public static native int unmap(long address, long bytes);

    /**
     * Returns the size of a page of memory.
     *
     * @return bytes
     */
    public static native int pageSize();
}
