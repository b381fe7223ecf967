package io.sluice.jni;

/**
 * Wakes a thread that waits in {@link Epoll#await}, by {@code eventfd}. The descriptor is readable from the first
 * {@link #signal} until {@link #drain}. {@link Sockets#close} closes it.
 */
public final class EventDescriptor {
    static {
        NativeLibrary.ensureAvailable();
    }

    private EventDescriptor() {}

    /**
     * Creates a non-blocking event descriptor that is closed on {@code exec}.
     *
     * @return the file descriptor, or {@code -errno}: {@code -EMFILE}, {@code -ENFILE}
     */
    public static native int create();

    /**
     * Makes the descriptor readable. Any thread may call this.
     *
     * @param fd the event descriptor
     * @return 0 or {@code -errno}; a full counter counts as success, because the descriptor is readable
     */
    public static native int signal(int fd);

    /**
     * Takes all signals, which makes the descriptor unreadable.
     *
     * @param fd the event descriptor
     * @return 1 if there was at least one signal, 0 if there was none, or {@code -errno}
     */
    public static native int drain(int fd);
}
