package io.sluice.jni;

/**
 * Unix sockets that keep message boundaries ({@code SOCK_SEQPACKET}), never block, are closed on {@code exec}, and carry
 * file descriptors. {@link Sockets#close} closes one, {@link Sockets#shutdown} ends a connection and {@link Epoll} waits
 * for it.
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
     * Binds a new socket and makes it accept connections, of which up to 16 wait. The file of a path is made with mode
     * 0600 (less what the process's {@code umask} takes away), and is not removed when the socket is closed.
     *
     * @param address where to listen
     * @return the file descriptor, or {@code -errno}: {@code -EADDRINUSE} if the name is taken or the file exists,
     *     {@code -ENOENT}, {@code -EACCES}, {@code -EMFILE}, {@code -ENFILE}
     */
    public static native int listen(byte[] address);

    /**
     * Connects a new socket, at once or not at all.
     *
     * @param address the address of a listening socket
     * @return the file descriptor, or {@code -errno}: {@code -ECONNREFUSED} if no socket listens there (any more),
     *     {@code -ENOENT} if there is no such file, {@code -EACCES} if its mode forbids it, {@code -EAGAIN} if too many
     *     wait to be accepted, {@code -EPROTOTYPE} if a socket of another type is there, {@code -EMFILE},
     *     {@code -ENFILE}
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
     * Sends one message, all of it or nothing, without {@code SIGPIPE}. The descriptors are duplicated for the peer:
     * the caller's stay open, and may be closed at once.
     *
     * @param fd the socket
     * @param address where the bytes lie
     * @param length how many bytes, at least 1
     * @param descriptorsAddress where the descriptors lie, 4 bytes each in native byte order; not read if there are
     *     none
     * @param descriptorCount how many descriptors, 0 to {@link #MAX_DESCRIPTORS}
     * @return {@code length}, or {@code -errno}: {@code -EAGAIN} if the peer has to receive first, {@code -EMSGSIZE} if
     *     the message is larger than the send buffer, {@code -EPIPE} or {@code -ECONNRESET} if the connection is gone,
     *     {@code -ENOTCONN}, {@code -EBADF} if the socket or a descriptor is none, {@code -ETOOMANYREFS} if this user
     *     has too many descriptors on their way, {@code -EFAULT} for bytes that are not mapped, {@code -EINVAL} for a
     *     length or a count out of range
     */
    public static native int send(int fd, long address, int length, long descriptorsAddress, int descriptorCount);

    /**
     * Receives one message. Its descriptors are closed on {@code exec} and belong to the caller.
     *
     * <p>A message without bytes is indistinguishable from the end of the stream, and is treated as such. Descriptors
     * of a message that is not given to the caller are always closed.
     *
     * @param fd the socket
     * @param address where to put the bytes
     * @param length how many bytes there is room for, at least 1
     * @param descriptorsAddress where to put the descriptors, 4 bytes each in native byte order; not written if there
     *     are none
     * @param maxDescriptors how many descriptors there is room for, 0 to {@link #MAX_DESCRIPTORS}
     * @return in the low 32 bits the length of the message, in the high 32 bits the number of descriptors; 0 at the end
     *     of the stream; or {@code -errno}: {@code -EAGAIN} if nothing is there, {@code -EMSGSIZE} if there was no room
     *     for the message or all its descriptors, or this process may not have so many open (the message is lost),
     *     {@code -ECONNRESET} if the peer closed without having received all, {@code -ENOTCONN}, {@code -EFAULT} for
     *     memory that is not mapped (the message is lost), {@code -EINVAL} for a length or a count out of range
     */
    public static native long receive(int fd, long address, int length, long descriptorsAddress, int maxDescriptors);

    /**
     * Tells who the peer was when it connected or, seen from the connecting side, when it began to listen
     * ({@code SO_PEERCRED}). The kernel vouches for it.
     *
     * @param fd a connected socket
     * @return in the low 32 bits the effective user id, in the high 32 bits the process id, both as this process's
     *     namespaces see them (the process id is 0 if they do not); or {@code -errno}: {@code -ENOTCONN}
     */
    public static native long peer(int fd);

    /**
     * Returns the effective user of this process.
     *
     * @return the user id, an unsigned number
     */
    public static native int userId();

    /**
     * Tells this process's id as its own namespace sees it.
     *
     * @return the process id
     */
    public static native int processId();
}
