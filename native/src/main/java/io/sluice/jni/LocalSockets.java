package io.sluice.jni;

/**
 * Unix sockets that keep message boundaries ({@code SOCK_SEQPACKET}), never block, are closed on {@code exec}, and
 * carry file descriptors. Use {@link Sockets#close} to close one, {@link Sockets#shutdown} to end a connection, and
 * {@link Epoll} to wait for it.
 *
 * <p>An address is the bytes of a path, 1 to 107 and none of them 0, or a 0 and up to 106 bytes of a name in the
 * abstract namespace, where every byte counts. Any other, or {@code null}, gives {@code -EINVAL}. An abstract name
 * belongs to the network namespace and has no permissions: any process in the namespace can connect, or be first to take
 * the name. See {@link #peer}.
 */
public final class LocalSockets {
    /** The largest number of descriptors in one message. */
    public static final int MAX_DESCRIPTORS = 253;

    static {
        NativeLibrary.ensureAvailable();
    }

    private LocalSockets() {}

    /**
     * Binds a new socket and listens, with a backlog of 16. The file of a path has mode 0600 (less the process's {@code
     * umask}) and is not removed when the socket is closed.
     *
     * @param address where to listen
     * @return the file descriptor, or {@code -errno}: {@code -EADDRINUSE} if the name is taken or the file exists,
     *     {@code -ENOENT}, {@code -EACCES}, {@code -EMFILE}, {@code -ENFILE}
     */
    public static native int listen(byte[] address);

    /**
     * Connects a new socket without blocking: the connect succeeds or fails at once.
     *
     * @param address the address of a listening socket
     * @return the file descriptor, or {@code -errno}: {@code -ECONNREFUSED} if no socket listens there (any more),
     *     {@code -ENOENT} if there is no such file, {@code -EACCES} if its mode forbids it, {@code -EAGAIN} if the
     *     backlog is full, {@code -EPROTOTYPE} if the socket there has another type, {@code -EMFILE}, {@code -ENFILE}
     */
    public static native int connect(byte[] address);

    /**
     * Accepts one connection.
     *
     * @param fd the listening socket
     * @return the new file descriptor, or {@code -errno}: {@code -EAGAIN} if none waits, {@code -EMFILE} or
     *     {@code -ENFILE} if descriptors have run out
     */
    public static native int accept(int fd);

    /**
     * Sends one whole message, without {@code SIGPIPE}. The descriptors are duplicated for the peer: the caller's stay
     * open and may be closed at once.
     *
     * @param fd the socket
     * @param address the address of the bytes
     * @param length the number of bytes, at least 1
     * @param descriptorsAddress the address of the descriptors, 4 bytes each in native byte order; not read if there
     *     are none
     * @param descriptorCount the number of descriptors, 0 to {@link #MAX_DESCRIPTORS}
     * @return {@code length}, or {@code -errno}: {@code -EAGAIN} if the peer must receive first, {@code -EMSGSIZE} if
     *     the message exceeds the send buffer, {@code -EPIPE} or {@code -ECONNRESET} if the connection is gone, {@code
     *     -ENOTCONN}, {@code -EBADF} for an invalid socket or descriptor, {@code -ETOOMANYREFS} if this user has too
     *     many descriptors in flight, {@code -EFAULT} for unmapped memory, {@code -EINVAL} for a length or count out of
     *     range
     */
    public static native int send(int fd, long address, int length, long descriptorsAddress, int descriptorCount);

    /**
     * Receives one message. Its descriptors are closed on {@code exec} and belong to the caller.
     *
     * <p>An empty message cannot be told from the end of the stream and is treated as such. The descriptors of a
     * message that is not returned are always closed.
     *
     * @param fd the socket
     * @param address where to store the bytes
     * @param length the size of that memory, at least 1
     * @param descriptorsAddress where to store the descriptors, 4 bytes each in native byte order; not written if there
     *     are none
     * @param maxDescriptors the most descriptors to store, 0 to {@link #MAX_DESCRIPTORS}
     * @return in the low 32 bits the length of the message, in the high 32 bits the number of descriptors; 0 at the end
     *     of the stream; or {@code -errno}: {@code -EAGAIN} if no message is there, {@code -EMSGSIZE} if the message or
     *     its descriptors did not fit, or this process may not open that many (the message is lost), {@code
     *     -ECONNRESET} if the peer closed with unreceived messages, {@code -ENOTCONN}, {@code -EFAULT} for unmapped
     *     memory (the message is lost), {@code -EINVAL} for a length or count out of range
     */
    public static native long receive(int fd, long address, int length, long descriptorsAddress, int maxDescriptors);

    /**
     * Returns the identity of the peer at the time of its connect or, on the connecting side, of its listen ({@code
     * SO_PEERCRED}). The kernel guarantees it.
     *
     * @param fd a connected socket
     * @return in the low 32 bits the effective user id, in the high 32 bits the process id, both as this process's
     *     namespaces see them (the process id is 0 if they do not); or {@code -errno}: {@code -ENOTCONN}
     */
    public static native long peer(int fd);

    /**
     * Opens the peer's process: that of its connect or, on the connecting side, of its listen. The descriptor is readable
     * once all threads of the process have ended and what it had open is closed, also if that process is not reaped. {@link
     * Sockets#close} closes it, and it is closed on {@code exec}.
     *
     * @param fd a connected socket, whose peer's process lives
     * @return the descriptor (a pidfd), or {@code -errno}: {@code -ESRCH} or {@code -EINVAL} if the process has ended,
     *     {@code -ENOSYS} before Linux 5.3, {@code -ENOTCONN} or {@code -ENODATA} if there is no peer, {@code -EMFILE}, {@code
     *     -ENFILE}
     */
    public static native int peerProcess(int fd);

    /**
     * Returns the effective user id of this process.
     *
     * @return the user id, an unsigned number
     */
    public static native int userId();

    /**
     * Returns the id of this process in its own pid namespace.
     *
     * @return the process id
     */
    public static native int processId();
}
