package io.sluice.jni;

import org.jspecify.annotations.Nullable;

/**
 * Non-blocking TCP sockets by file descriptor.
 *
 * <p>Every method returns {@code -errno} on failure (see {@link Errno}) unless it says otherwise. Host addresses are in
 * network byte order, 4 bytes for IPv4 and 16 for IPv6. A 4-byte address given to an IPv6 socket is mapped
 * ({@code ::ffff:a.b.c.d}); a 16-byte one given to an IPv4 socket must be such a mapped one, or the call fails with
 * {@code -EAFNOSUPPORT}. Any other length of an address, {@code null}, or a port outside 0 to 65535, gives
 * {@code -EINVAL}.
 */
public final class Sockets {
    static {
        NativeLibrary.ensureAvailable();
    }

    private Sockets() {}

    /**
     * Opens a non-blocking TCP socket that is closed on {@code exec}.
     *
     * @param ipv6 whether it is an IPv6 socket, which is dual-stack ({@code IPV6_V6ONLY} off)
     * @return the file descriptor, or {@code -errno}: {@code -EMFILE}, {@code -ENFILE}, {@code -EAFNOSUPPORT} if the
     *     kernel has no IPv6
     */
    public static native int openStream(boolean ipv6);

    /**
     * Binds a socket after setting {@code SO_REUSEADDR}.
     *
     * @param fd the socket
     * @param address 4 or 16 bytes
     * @param scope the scope id (interface index) of a link-local IPv6 address, otherwise 0
     * @param port 0 to 65535; 0 lets the kernel choose
     * @return 0, or {@code -errno}: {@code -EADDRINUSE}, {@code -EADDRNOTAVAIL}, {@code -EACCES}
     */
    public static native int bind(int fd, byte[] address, int scope, int port);

    /**
     * Makes a bound socket listen.
     *
     * @param fd the socket
     * @param backlog the most connections that wait to be accepted; the kernel caps it at {@code somaxconn}
     * @return 0 or {@code -errno}
     */
    public static native int listen(int fd, int backlog);

    /**
     * Starts to connect.
     *
     * @param fd the socket
     * @param address 4 or 16 bytes
     * @param scope the scope id (interface index) of a link-local IPv6 address, otherwise 0
     * @param port 1 to 65535
     * @return 0 if connected at once; {@code -EINPROGRESS} if pending: wait until the socket is writable, then call
     *     {@link #connectResult}; otherwise {@code -errno}
     */
    public static native int connect(int fd, byte[] address, int scope, int port);

    /**
     * Takes the socket's pending error ({@code SO_ERROR}, which reading clears). It is the outcome of {@link #connect}
     * once the socket is writable; before that it is 0.
     *
     * @param fd the socket
     * @return 0 or {@code -errno}, for example {@code -ECONNREFUSED}
     */
    public static native int connectResult(int fd);

    /**
     * Accepts one connection; the new socket is non-blocking and closed on {@code exec}.
     *
     * @param fd the listening socket
     * @return the new file descriptor, or {@code -errno}: {@code -EAGAIN} if none is waiting, {@code -ECONNABORTED} if
     *     it was closed meanwhile (try again), {@code -EMFILE} or {@code -ENFILE} without free descriptors (the
     *     connection stays in the backlog)
     */
    public static native int accept(int fd);

    /**
     * Returns the port of a bound socket.
     *
     * @param fd the socket
     * @return 1 to 65535, 0 if not bound yet, or {@code -errno}
     */
    public static native int localPort(int fd);

    /**
     * Returns the address of a bound socket. An IPv6 socket returns 16 bytes even for IPv4 (mapped).
     *
     * @param fd the socket
     * @return 4 or 16 bytes of address, then 2 bytes of port in network byte order; {@code null} if it is unknown
     */
    public static native byte @Nullable [] localAddress(int fd);

    /**
     * Returns the address of the peer. An IPv6 socket returns 16 bytes even for IPv4 (mapped).
     *
     * @param fd the socket
     * @return 4 or 16 bytes of address, then 2 bytes of port in network byte order; {@code null} if it is not connected
     */
    public static native byte @Nullable [] peerAddress(int fd);

    /**
     * Turns Nagle's algorithm off or on ({@code TCP_NODELAY}).
     *
     * @param fd the socket
     * @param on true to send small segments at once
     * @return 0 or {@code -errno}
     */
    public static native int setNoDelay(int fd, boolean on);

    /**
     * Makes a socket send as soon as the windows allow, independent of the system's default, with the congestion
     * control {@code reno} ({@code TCP_CONGESTION}), which every kernel has and which does not pace. Others, such as
     * {@code bbr}, arm a timer for each burst, which is expensive and useless within a host. Call it before {@link
     * #connect} or {@link #listen}, whose accepted sockets inherit it: a connection that was paced once stays so.
     *
     * @param fd the socket
     * @return 0 or {@code -errno}
     */
    public static native int setUnpaced(int fd);

    /**
     * Makes {@link #close(int)} reset the connection ({@code SO_LINGER} of zero): unsent and unread data is discarded,
     * and no port stays in {@code TIME_WAIT}. For peers known to need nothing more.
     *
     * @param fd the socket
     * @return 0 or {@code -errno}
     */
    public static native int setResetOnClose(int fd);

    /**
     * Fixes the size of the send buffer ({@code SO_SNDBUF}). The kernel stops tuning it, doubles the value for its own
     * bookkeeping, and caps it at {@code net.core.wmem_max} without an error.
     *
     * @param fd the socket
     * @param bytes the size in bytes
     * @return 0 or {@code -errno}
     */
    public static native int setSendBuffer(int fd, int bytes);

    /**
     * Fixes the size of the receive buffer ({@code SO_RCVBUF}). The kernel stops tuning it, doubles the value for its
     * own bookkeeping, and caps it at {@code net.core.rmem_max} without an error. To widen the TCP window, call it
     * before {@link #listen} or {@link #connect}.
     *
     * @param fd the socket
     * @param bytes the size in bytes
     * @return 0 or {@code -errno}
     */
    public static native int setReceiveBuffer(int fd, int bytes);

    /**
     * Requests immediate acknowledgements ({@code TCP_QUICKACK}). The kernel may return to delayed ones later.
     *
     * @param fd the socket
     * @param on true to acknowledge at once
     * @return 0 or {@code -errno}
     */
    public static native int setQuickAck(int fd, boolean on);

    /**
     * Turns the kernel's keep-alive probes on or off ({@code SO_KEEPALIVE}).
     *
     * @param fd the socket
     * @param on true to send probes
     * @return 0 or {@code -errno}
     */
    public static native int setKeepAlive(int fd, boolean on);

    /**
     * Limits how long sent bytes may stay unacknowledged before the kernel breaks the connection with
     * {@code ETIMEDOUT} ({@code TCP_USER_TIMEOUT}).
     *
     * @param fd the socket
     * @param milliseconds the limit in milliseconds, not negative; 0 restores the system's default
     * @return 0 or {@code -errno}
     */
    public static native int setUserTimeout(int fd, int milliseconds);

    /**
     * Sends bytes without blocking and without {@code SIGPIPE}.
     *
     * @param fd the socket
     * @param address the address of the bytes
     * @param length the number of bytes, not negative
     * @return the number of bytes accepted by the kernel, possibly fewer than {@code length}, or {@code -errno}: {@code
     *     -EAGAIN} if the send buffer is full, {@code -EPIPE} or {@code -ECONNRESET} if the connection is gone, {@code
     *     -EFAULT} for unmapped memory, {@code -EINVAL} for a negative length
     */
    public static native long send(int fd, long address, long length);

    /**
     * Receives bytes without blocking.
     *
     * @param fd the socket
     * @param address where to store the bytes
     * @param length the size of that memory, at least 1
     * @return the number of bytes received, 0 at the end of the stream, or {@code -errno}: {@code -EAGAIN} if there are
     *     none, {@code -ECONNRESET}, {@code -EFAULT} for unmapped memory, {@code -EINVAL} for a length below 1
     *     (indistinguishable from the end of the stream)
     */
    public static native long receive(int fd, long address, long length);

    /**
     * Sends from several buffers with one system call, without blocking and without {@code SIGPIPE}.
     *
     * @param fd the socket
     * @param vectorAddress an array of {@code struct iovec}: for each buffer its address and its length in bytes, 8
     *     bytes each, in native byte order
     * @param count the number of buffers, 0 to 1024
     * @return the number of bytes accepted by the kernel in total, possibly fewer than all, or {@code -errno} as {@link
     *     #send}; {@code -EMSGSIZE} for too many buffers, {@code -EINVAL} for a negative count
     */
    public static native long sendVector(int fd, long vectorAddress, int count);

    /**
     * Receives into several buffers with one system call, without blocking.
     *
     * @param fd the socket
     * @param vectorAddress an array of {@code struct iovec}, as for {@link #sendVector}; the lengths must not all be 0,
     *     because the result 0 means the end of the stream
     * @param count the number of buffers, 1 to 1024
     * @return the number of bytes received in total, 0 at the end of the stream, or {@code -errno} as {@link #receive};
     *     {@code -EMSGSIZE} for too many buffers, {@code -EINVAL} for a count below 1
     */
    public static native long receiveVector(int fd, long vectorAddress, int count);

    /**
     * Shuts down both directions of a connection; threads that wait for the socket are woken.
     *
     * @param fd the socket
     * @return 0 or {@code -errno}: {@code -ENOTCONN}
     */
    public static native int shutdown(int fd);

    /**
     * Closes a file descriptor created by this package. It is released even if an error is returned, so do not close it
     * twice: the number may already denote another file.
     *
     * @param fd the file descriptor
     * @return 0 or {@code -errno}
     */
    public static native int close(int fd);

    /**
     * Returns the number of bytes in the send queue, unsent or unacknowledged ({@code SIOCOUTQ}).
     *
     * @param fd a connected socket
     * @return the number of bytes or {@code -errno}
     */
    public static native int unacknowledgedBytes(int fd);
}
