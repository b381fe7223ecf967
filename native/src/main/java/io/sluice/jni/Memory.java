package io.sluice.jni;

/** Anonymous memory from the kernel, by address. */
public final class Memory {
    static {
        NativeLibrary.ensureAvailable();
    }

    private Memory() {}

    /**
     * Maps private anonymous memory: zeroed, aligned to pages, readable and writable.
     *
     * @param bytes the size in bytes, at least 1; the kernel rounds up to whole pages
     * @param prefault whether to allocate every page now, as far as possible, rather than on first access
     * @return the address, which is always positive, or {@code -errno}: {@code -ENOMEM}, {@code -EINVAL} for a size
     *     below 1
     */
    public static native long map(long bytes, boolean prefault);

    /**
     * Unmaps memory of {@link #map}. A later access crashes the process.
     *
     * @param address the address that {@link #map} returned
     * @param bytes the same size
     * @return 0, or {@code -errno}: {@code -EINVAL} for a size below 1 or an address that is not page-aligned
     */
    public static native int unmap(long address, long bytes);

    /**
     * Returns the page size.
     *
     * @return bytes
     */
    public static native int pageSize();
}
