package io.sluice.jni;

/**
 * The Linux error numbers that Sluice handles; methods of this package return them negated. The values are those of
 * x86_64 and aarch64, which agree; the shim does not compile where the system's differ.
 */
public final class Errno {
    /** Operation not permitted. */
    public static final int EPERM = 1;

    /** No such file or directory, or not watched by this epoll. */
    public static final int ENOENT = 2;

    /** No such process. */
    public static final int ESRCH = 3;

    /** Interrupted system call. */
    public static final int EINTR = 4;

    /** Input/output error. */
    public static final int EIO = 5;

    /** Bad file descriptor. */
    public static final int EBADF = 9;

    /** Nothing can be done now without blocking; try again. Also {@code EWOULDBLOCK}. */
    public static final int EAGAIN = 11;

    /** Cannot allocate memory. */
    public static final int ENOMEM = 12;

    /** Permission denied. */
    public static final int EACCES = 13;

    /** Bad address. */
    public static final int EFAULT = 14;

    /** Device or resource busy. */
    public static final int EBUSY = 16;

    /** File exists, or already watched by this epoll. */
    public static final int EEXIST = 17;

    /** No such device. */
    public static final int ENODEV = 19;

    /** Invalid argument. */
    public static final int EINVAL = 22;

    /** Too many open files in the system. */
    public static final int ENFILE = 23;

    /** Too many open files in the process. */
    public static final int EMFILE = 24;

    /** The file would be larger than it may be. */
    public static final int EFBIG = 27;

    /** No space left on the device. */
    public static final int ENOSPC = 28;

    /** Broken pipe: this side of the connection was shut down for sending, or the peer has gone. */
    public static final int EPIPE = 32;

    /** Result out of range. */
    public static final int ERANGE = 34;

    /** Function not implemented by this kernel. */
    public static final int ENOSYS = 38;

    /** No data, such as an empty table entry. */
    public static final int ENODATA = 61;

    /** Protocol error. */
    public static final int EPROTO = 71;

    /** The descriptor is not a socket. */
    public static final int ENOTSOCK = 88;

    /** Message too long, or too many pieces in a vector. */
    public static final int EMSGSIZE = 90;

    /** The socket at this address is of another type. */
    public static final int EPROTOTYPE = 91;

    /** Protocol option not available. */
    public static final int ENOPROTOOPT = 92;

    /** Operation not supported. */
    public static final int EOPNOTSUPP = 95;

    /** Address family not supported. */
    public static final int EAFNOSUPPORT = 97;

    /** Address already in use. */
    public static final int EADDRINUSE = 98;

    /** Cannot assign the requested address. */
    public static final int EADDRNOTAVAIL = 99;

    /** Network is down. */
    public static final int ENETDOWN = 100;

    /** Network is unreachable. */
    public static final int ENETUNREACH = 101;

    /** Network dropped the connection on reset. */
    public static final int ENETRESET = 102;

    /** Software caused the connection to abort. */
    public static final int ECONNABORTED = 103;

    /** Connection reset by the peer. */
    public static final int ECONNRESET = 104;

    /** No buffer space available. */
    public static final int ENOBUFS = 105;

    /** The socket is already connected. */
    public static final int EISCONN = 106;

    /** The socket is not connected. */
    public static final int ENOTCONN = 107;

    /** Too many references: more descriptors are on their way in messages than may be open. */
    public static final int ETOOMANYREFS = 109;

    /** Connection timed out. */
    public static final int ETIMEDOUT = 110;

    /** Connection refused. */
    public static final int ECONNREFUSED = 111;

    /** The host is down. */
    public static final int EHOSTDOWN = 112;

    /** No route to the host. */
    public static final int EHOSTUNREACH = 113;

    /** Operation already in progress. */
    public static final int EALREADY = 114;

    /** Operation now in progress. */
    public static final int EINPROGRESS = 115;

    /** Operation cancelled. */
    public static final int ECANCELED = 125;

    static {
        NativeLibrary.ensureAvailable();
    }

    private Errno() {}

    /**
     * Describes an error number in English, independent of the locale.
     *
     * @param errno the error number, or a negated one as methods of this package return it
     * @return the system's description, for example {@code Connection refused}; never empty
     */
    public static native String message(int errno);
}
