package io.sluice.jni;

/**
 * Streams of a device, events, and the work that is given to them. See {@link CudaLibrary} for what all these classes share.
 *
 * <p>Work is a table of records of {@link #REQUEST_BYTES} each. A stream executes its work in order. After each
 * operation it adds to or stores the operation's signal, then stores its word, both visible to the host and to other
 * devices after all that came before. Nothing calls back, and nothing is allocated: the host looks at the word.
 */
public final class CudaStream {
    /** Bytes of the record of a request. */
    public static final int REQUEST_BYTES = 96;

    /** Offset of the stream's handle in the record, a {@code long}. */
    public static final int REQUEST_STREAM_OFFSET = 0;

    /** Offset of the operation in the record, an {@code int}: one of this class's constants. */
    public static final int REQUEST_OPERATION_OFFSET = 8;

    /** Offset of the number of pages in the record, or of a launch's blocks; an {@code int}. */
    public static final int REQUEST_COUNT_OFFSET = 12;

    /** Offset in the record of the destination address, or the event to record; a {@code long}. */
    public static final int REQUEST_DESTINATION_OFFSET = 16;

    /** Offset in the record of the source address, or the event to wait for, or a function; a {@code long}. */
    public static final int REQUEST_SOURCE_OFFSET = 24;

    /**
     * Offset of the number of bytes in the record, of each page if there are pages; or the value to fill with; a
     * {@code long}.
     */
    public static final int REQUEST_LENGTH_OFFSET = 32;

    /**
     * Where in the record the device's address is of the pages' offsets from the destination, 8 bytes each; or their distance; or
     * how many bytes to fill; or the host's address of the addresses of a launch's arguments; a {@code long}.
     */
    public static final int REQUEST_DESTINATIONS_OFFSET = 40;

    /**
     * Offset in the record of the device's address of the pages' offsets from the source, or their distance; a
     * {@code long}.
     */
    public static final int REQUEST_SOURCES_OFFSET = 48;

    /**
     * Where in the record the device's address of the signal is, a {@code long}; 0 for none. An addition is atomic against others
     * of the same device, and against those of another device only over a link with {@link CudaDevice#LINK_NATIVE_ATOMICS}; against
     * the host's it is not: store there.
     */
    public static final int REQUEST_SIGNAL_OFFSET = 56;

    /** Offset in the record of the value that is added to the signal, or stored; a {@code long}. */
    public static final int REQUEST_ADDEND_OFFSET = 64;

    /** Offset in the record of 1, an {@code int}, if the addend is stored and not added. */
    public static final int REQUEST_SIGNAL_IS_STORE_OFFSET = 72;

    /** Offset in the record of the word's device address, in pinned memory of the host, a {@code long}; 0 for none. */
    public static final int REQUEST_WORD_OFFSET = 80;

    /** Offset in the record of the value that is stored in the word, a {@code long}. */
    public static final int REQUEST_VALUE_OFFSET = 88;

    /** Operation: copies by a copy engine. */
    public static final int COPY = 1;

    /** Operation: copies pages of one size by a kernel, from and to the offsets in two tables. */
    public static final int COPY_PAGES = 2;

    /** Operation: copies pages of one size by a kernel, at even distances. */
    public static final int COPY_STRIDED = 3;

    /** Operation: the CRC-32C of bytes, to the 8 bytes at the destination. */
    public static final int CHECKSUM = 4;

    /** Operation: fills with a byte. */
    public static final int FILL = 5;

    /** Operation: launches a kernel of the caller's. */
    public static final int LAUNCH = 6;

    /** Operation: what follows waits for an event. */
    public static final int WAIT_EVENT = 7;

    /** Operation: an event happens. */
    public static final int RECORD_EVENT = 8;

    /** Operation: nothing but the signal and the word. */
    public static final int COMPLETE = 9;

    /**
     * Operation: a kernel adds the length's field to the word at the destination, as atomic as a signal's addition, and stores what
     * the word held before at the source. Both lie at multiples of 8.
     */
    public static final int FETCH_ADD = 10;

    /**
     * Operation: as {@link #FETCH_ADD}, but the length's field replaces what the word holds if that is what the field of the
     * destinations holds.
     */
    public static final int COMPARE_AND_SWAP = 11;

    static {
        NativeLibrary.ensureAvailable();
    }

    private CudaStream() {}

    /**
     * Creates a stream.
     *
     * @param device the device
     * @param kernels the module of Sluice's kernels on that device, which must outlive the stream
     * @param priority above 0 for the greatest of the device, else the least
     * @param maxBlocks how many blocks a kernel may have at most, at least 1
     * @return the stream's handle, or an error
     */
    public static native long create(long device, long kernels, int priority, int maxBlocks);

    /**
     * Gives requests to their streams, in order; they may be of several streams and devices.
     *
     * @param requests where the records begin
     * @param count how many there are
     * @return how many the driver took, or, if it did not take the first, an error. Of one that it did not take nothing happens,
     *     unless it refused the signal or the word alone: {@link #query} gives that error once the stream's work is done
     */
    public static native int submit(long requests, int count);

    /**
     * Asks whether a stream has done all its work.
     *
     * @param stream the stream
     * @return 0 if so, {@code -CUDA_ERROR_NOT_READY} ({@link #NOT_READY}) if not, or another error: its work has failed
     */
    public static native int query(long stream);

    /** The result of {@link #query} and {@link #eventQuery} for unfinished work. */
    public static final int NOT_READY = -600;

    /**
     * Lets the stream add 1 to an event descriptor once it has done all that it was given until now. It costs a thread of the
     * driver's: for work that takes long.
     *
     * @param stream the stream
     * @param descriptor the event descriptor, which must stay open until then
     * @return 0 or an error
     */
    public static native int signal(long stream, int descriptor);

    /**
     * Returns the driver's own handle of a stream, for code that gives it work of its own.
     *
     * @param stream the stream
     * @return the {@code CUstream}, or an error
     */
    public static native long handle(long stream);

    /**
     * Destroys a stream. It must have no work under way: see {@link #query}.
     *
     * @param stream the stream
     * @return 0 or an error; the handle is gone in either case
     */
    public static native int destroy(long stream);

    /**
     * Creates an event, which has happened until it is recorded.
     *
     * @param device the device
     * @return the event ({@code CUevent}), or an error
     */
    public static native long eventCreate(long device);

    /**
     * Asks whether an event has happened.
     *
     * @param device its device
     * @param event the event
     * @return 0 if so, {@link #NOT_READY} if not, or another error
     */
    public static native int eventQuery(long device, long event);

    /**
     * Destroys an event; streams that wait for it go on waiting.
     *
     * @param device its device
     * @param event the event
     * @return 0 or an error
     */
    public static native int eventDestroy(long device, long event);
}
