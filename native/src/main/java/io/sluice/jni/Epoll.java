package io.sluice.jni;

/**
 * Readiness of file descriptors by {@code epoll}. An epoll is itself a file descriptor; {@link Sockets#close} closes
 * it.
 */
public final class Epoll {
    // The generated C header carries these values; the shim does not compile where the kernel's differ.

    /** {@code EPOLLIN}: bytes, a connection, or the end of the stream can be read. */
    public static final int READABLE = 0x001;

    /** {@code EPOLLOUT}: bytes can be sent, or a connection attempt has ended. */
    public static final int WRITABLE = 0x004;

    /** {@code EPOLLERR}: an error is pending; always reported. */
    public static final int ERROR = 0x008;

    /** {@code EPOLLHUP}: both directions are closed; always reported. */
    public static final int HANGUP = 0x010;

    /** {@code EPOLLRDHUP}: the peer has closed its sending side. */
    public static final int PEER_CLOSED = 0x2000;

    /** {@code EPOLLET}: edge-triggered. */
    public static final int EDGE = 1 << 31;

    /** Size of one record of {@link #await} in bytes. */
    public static final int RECORD_BYTES = 16;

    /** Offset in a record of the {@code int} with the events. */
    public static final int RECORD_EVENTS_OFFSET = 0;

    /** Offset in a record of the {@code long} passed to {@link #add} or {@link #modify}. */
    public static final int RECORD_DATA_OFFSET = 8;

    static {
        NativeLibrary.ensureAvailable();
    }

    private Epoll() {}

    /**
     * Creates an epoll that is closed on {@code exec}.
     *
     * @return the file descriptor, or {@code -errno}: {@code -EMFILE}, {@code -ENFILE}
     */
    public static native int create();

    /**
     * Adds a file descriptor to an epoll.
     *
     * @param epoll the epoll
     * @param fd the file descriptor to watch
     * @param events a union of this class's constants
     * @param data returned with each event
     * @return 0 or {@code -errno}: {@code -EEXIST}
     */
    public static native int add(int epoll, int fd, int events, long data);

    /**
     * Changes the events to watch of a file descriptor.
     *
     * @param epoll the epoll
     * @param fd the watched file descriptor
     * @param events a union of this class's constants
     * @param data returned with each event
     * @return 0 or {@code -errno}: {@code -ENOENT}
     */
    public static native int modify(int epoll, int fd, int events, long data);

    /**
     * Stops watching a file descriptor.
     *
     * @param epoll the epoll
     * @param fd the watched file descriptor
     * @return 0 or {@code -errno}: {@code -ENOENT}
     */
    public static native int remove(int epoll, int fd);

    /**
     * Waits for events. This blocks the calling thread (a virtual one with its carrier).
     *
     * @param epoll the epoll
     * @param recordsAddress the address of {@code maximum} records of {@link #RECORD_BYTES} bytes, each in native byte
     *     order an {@code int} of events, an {@code int} 0, and the {@code long} of data. All of it must be writable
     * @param maximum the most records to write, at least 1
     * @param timeoutNanos how long to wait in nanoseconds; 0 polls, a negative value waits forever. A kernel without
     *     {@code epoll_pwait2} (before 5.11) rounds up to whole milliseconds
     * @return the number of records written, or {@code -errno}; 0 after the time-out or an interrupting signal
     */
    public static native int await(int epoll, long recordsAddress, int maximum, long timeoutNanos);
}
