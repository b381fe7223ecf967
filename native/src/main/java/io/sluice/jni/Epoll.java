package io.sluice.jni;

/**
 * Readiness of file descriptors by {@code epoll}. An epoll is itself a file descriptor; {@link Sockets#close} closes
 * it.
 */
public final class Epoll {
    // The generated C header carries these values, and the shim's compilation fails where the kernel's differ.

    /** {@code EPOLLIN}: bytes or a connection are there, or the end of the stream. */
    public static final int READABLE = 0x001;

    /** {@code EPOLLOUT}: there is room to send, or a connection attempt has ended. */
    public static final int WRITABLE = 0x004;

    /** {@code EPOLLERR}: an error is pending; always reported, whether asked for or not. */
    public static final int ERROR = 0x008;

    /** {@code EPOLLHUP}: both directions are closed; always reported, whether asked for or not. */
    public static final int HANGUP = 0x010;

    /** {@code EPOLLRDHUP}: the peer sends no more. */
    public static final int PEER_CLOSED = 0x2000;

    /** {@code EPOLLET}: report changes only, rather than states. */
    public static final int EDGE = 1 << 31;

    /** Size of one record of {@link #await} in bytes. */
    public static final int RECORD_BYTES = 16;

    /** Offset in a record of the {@code int} with the events. */
    public static final int RECORD_EVENTS_OFFSET = 0;

    /** Offset in a record of the {@code long} that was given to {@link #add} or {@link #modify}. */
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
     * Starts to watch a file descriptor.
     *
     * @param epoll the epoll
     * @param fd what to watch
     * @param events a union of this class's constants
     * @param data comes back with each event
     * @return 0 or {@code -errno}: {@code -EEXIST}
     */
    public static native int add(int epoll, int fd, int events, long data);

    /**
     * Changes what is watched of a file descriptor.
     *
     * @param epoll the epoll
     * @param fd what is watched
     * @param events a union of this class's constants
     * @param data comes back with each event
     * @return 0 or {@code -errno}: {@code -ENOENT}
     */
    public static native int modify(int epoll, int fd, int events, long data);

    /**
     * Stops watching a file descriptor.
     *
     * @param epoll the epoll
     * @param fd what is watched
     * @return 0 or {@code -errno}: {@code -ENOENT}
     */
    public static native int remove(int epoll, int fd);

    /**
     * Waits for events. This blocks the calling thread (a virtual one with its carrier).
     *
     * @param epoll the epoll
     * @param recordsAddress where to write the events: {@code maximum} records of {@link #RECORD_BYTES} bytes, each in
     *     native byte order an {@code int} of events, an {@code int} 0, and the {@code long} of data. All of it must be
     *     writable
     * @param maximum how many records there is room for, at least 1
     * @param timeoutNanos how long to wait in nanoseconds; 0 polls, a negative value waits forever. A kernel without
     *     {@code epoll_pwait2} (older than 5.11) waits whole milliseconds, rounded up
     * @return how many records were written, or {@code -errno}; 0 after the time and also after a signal interrupted
     *     the wait
     */
    public static native int await(int epoll, long recordsAddress, int maximum, long timeoutNanos);
}
