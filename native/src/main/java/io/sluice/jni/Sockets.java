package io.sluice.jni;

import org.jspecify.annotations.Nullable;

/**
 * TCP sockets by file descriptor, never blocking.
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
     * Opens a TCP socket that does not block and is closed on {@code exec}.
     *
     * @param ipv6 whether it is an IPv6 socket; such a one is dual-stack ({@code IPV6_V6ONLY} off)
     * @return the file descriptor, or {@code -errno}: {@code -EMFILE}, {@code -ENFILE}, {@code -EAFNOSUPPORT} where the
     *     kernel has no IPv6
     */
    public static native int openStream(boolean ipv6);

    /**
     * Binds a socket, with {@code SO_REUSEADDR} set before.
     *
     * @param fd the socket
     * @param address 4 or 16 bytes
     * @param scope the scope id (interface index) of a link-local IPv6 address, otherwise 0
     * @param port 0 to 65535; 0 lets the kernel choose
     * @return 0, or {@code -errno}: {@code -EADDRINUSE}, {@code -EADDRNOTAVAIL}, {@code -EACCES}
     */
    public static native int bind(int fd, byte[] address, int scope, int port);

    /**
     * Makes a bound socket accept connections.
     *
     * @param fd the socket
     * @param backlog how many connections may wait to be accepted; the kernel caps it at {@code somaxconn}
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
     * @return 0 if connected at once; {@code -EINPROGRESS} if under way: wait until the socket is writable, then ask
     *     {@link #connectResult}; otherwise {@code -errno}
     */
    public static native int connect(int fd, byte[] address, int scope, int port);

    /**
     * Takes the socket's pending error ({@code SO_ERROR}, which reading clears). Meaningful as the outcome of
     * {@link #connect} only once the socket has become writable: while it is still connecting, this is 0 too.
     *
     * @param fd the socket
     * @return 0 or {@code -errno}, for example {@code -ECONNREFUSED}
     */
    public static native int connectResult(int fd);

    /**
     * Accepts one connection; the new socket does not block and is closed on {@code exec}.
     *
     * @param fd the listening socket
     * @return the new file descriptor, or {@code -errno}: {@code -EAGAIN} if none waits, {@code -ECONNABORTED} if it
     *     went away meanwhile (try again), {@code -EMFILE} or {@code -ENFILE} if descriptors have run out (the
     *     connection stays in the backlog)
     */
    public static native int accept(int fd);

    /**
     * Returns the port to which a socket is bound.
     *
     * @param fd the socket
     * @return 1 to 65535, 0 if not bound yet, or {@code -errno}
     */
    public static native int localPort(int fd);

    /**
     * Returns the address to which a socket is bound. An IPv6 socket gives 16 bytes even for an IPv4 peer (mapped).
     *
     * @param fd the socket
     * @return 4 or 16 bytes of address, then 2 bytes of port in network byte order; {@code null} if it is unknown
     */
    public static native byte @Nullable [] localAddress(int fd);

    /**
     * Returns the address of the peer. An IPv6 socket gives 16 bytes even for an IPv4 peer (mapped).
     *
     * @param fd the socket
     * @return 4 or 16 bytes of address, then 2 bytes of port in network byte order; {@code null} if it is not connected
     */
    public static native byte @Nullable [] peerAddress(int fd);

    /**
     * Turns Nagle's algorithm off or on ({@code TCP_NODELAY}).
     *
     * @param fd the socket
     * @param on true: small segments are sent at once
     * @return 0 or {@code -errno}
     */
    public static native int setNoDelay(int fd, boolean on);

    /**
     * Makes a socket send as soon as the windows allow, under any default of the system: by the congestion control that
     * every kernel has ({@code TCP_CONGESTION} of {@code reno}), which spaces nothing in time. Others, such as
     * {@code bbr}, arm a timer for each burst, which within one host costs much and saves nothing. Set it before
     * {@link #connect} or {@link #listen}, whose accepted sockets inherit it: a connection that was paced once stays
     * so.
     *
     * @param fd the socket
     * @return 0 or {@code -errno}
     */
    public static native int setUnpaced(int fd);

    /**
     * Has {@link #close(int)} reset the connection ({@code SO_LINGER} of zero): what is unsent or unread is thrown away,
     * and neither side's port stays taken in {@code TIME_WAIT}. For where the peer is known to want nothing more.
     *
     * @param fd the socket
     * @return 0 or {@code -errno}
     */
    public static native int setResetOnClose(int fd);

    /**
     * Fixes the size of the send buffer ({@code SO_SNDBUF}); the kernel then no longer tunes it, doubles the value for
     * its own book-keeping, and caps it at {@code net.core.wmem_max} without an error.
     *
     * @param fd the socket
     * @param bytes the size in bytes
     * @return 0 or {@code -errno}
     */
    public static native int setSendBuffer(int fd, int bytes);

    /**
     * Fixes the size of the receive buffer ({@code SO_RCVBUF}); the kernel then no longer tunes it, doubles the value
     * for its own book-keeping, and caps it at {@code net.core.rmem_max} without an error. To widen the TCP window, set
     * it before {@link #listen} or {@link #connect}.
     *
     * @param fd the socket
     * @param bytes the size in bytes
     * @return 0 or {@code -errno}
     */
    public static native int setReceiveBuffer(int fd, int bytes);

    /**
     * Asks for acknowledgements without delay ({@code TCP_QUICKACK}). The kernel may return to delayed ones later.
     *
     * @param fd the socket
     * @param on true: acknowledge at once
     * @return 0 or {@code -errno}
     */
    public static native int setQuickAck(int fd, boolean on);

    /**
     * Turns the kernel's keep-alive probes on or off ({@code SO_KEEPALIVE}).
     *
     * @param fd the socket
     * @param on whether to probe
     * @return 0 or {@code -errno}
     */
    public static native int setKeepAlive(int fd, boolean on);

    /**
     * Limits how long sent bytes may stay unacknowledged before the kernel breaks the connection with
     * {@code ETIMEDOUT} ({@code TCP_USER_TIMEOUT}).
     *
     * @param fd the socket
     * @param milliseconds the limit in milliseconds, not negative; 0 gives back the system's default
     * @return 0 or {@code -errno}
     */
    public static native int setUserTimeout(int fd, int milliseconds);

    /**
     * Sends bytes without blocking and without {@code SIGPIPE}.
     *
     * @param fd the socket
     * @param address where the bytes lie
     * @param length how many bytes, not negative
     * @return how many bytes the kernel took, possibly fewer than {@code length}, or {@code -errno}: {@code -EAGAIN} if
     *     the send buffer is full, {@code -EPIPE} or {@code -ECONNRESET} if the connection is gone, {@code -EFAULT} for
     *     memory that is not mapped, {@code -EINVAL} for a negative length
     */
    public static native long send(int fd, long address, long length);

    /**
     * Receives bytes without blocking.
     *
     * @param fd the socket
     * @param address where to put the bytes
     * @param length how many bytes there is room for, at least 1
     * @return how many bytes came, 0 at the end of the stream, or {@code -errno}: {@code -EAGAIN} if nothing is there,
     *     {@code -ECONNRESET}, {@code -EFAULT} for memory that is not mapped, {@code -EINVAL} for a length below 1
     *     (indistinguishable from the end of the stream)
     */
    public static native long receive(int fd, long address, long length);

    /**
     * Sends from several pieces of memory with one system call, without blocking and without {@code SIGPIPE}.
     *
     * @param fd the socket
     * @param vectorAddress an array of {@code struct iovec}: for each piece its address and its length in bytes, 8
     *     bytes each, in native byte order
     * @param count how many pieces, 0 to 1024
     * @return how many bytes the kernel took altogether, possibly fewer than all, or {@code -errno} as {@link #send};
     *     {@code -EMSGSIZE} for too many pieces, {@code -EINVAL} for a negative count
     */
    public static native long sendVector(int fd, long vectorAddress, int count);

    /**
     * Receives into several pieces of memory with one system call, without blocking.
     *
     * @param fd the socket
     * @param vectorAddress an array of {@code struct iovec}, as for {@link #sendVector}; the lengths must not all be 0,
     *     because the result 0 means the end of the stream
     * @param count how many pieces, 1 to 1024
     * @return how many bytes came altogether, 0 at the end of the stream, or {@code -errno} as {@link #receive};
     *     {@code -EMSGSIZE} for too many pieces, {@code -EINVAL} for a count below 1
     */
    public static native long receiveVector(int fd, long vectorAddress, int count);

    /**
     * Ends both directions of a connection; threads that wait for the socket see the end.
     *
     * @param fd the socket
     * @return 0 or {@code -errno}: {@code -ENOTCONN}
     */
    public static native int shutdown(int fd);

    /**
     * Closes any file descriptor that this package made. It is released even when an error is returned, so never close
     * twice: the number may already denote another file.
     *
     * @param fd the file descriptor
     * @return 0 or {@code -errno}
     */
    public static native int close(int fd);

    /**
     * Returns how many bytes are in the send queue, either not sent or not acknowledged yet ({@code SIOCOUTQ}).
     *
     * @param fd a connected socket
     * @return the number of bytes or {@code -errno}
     */
    public static native int unacknowledgedBytes(int fd);
}
