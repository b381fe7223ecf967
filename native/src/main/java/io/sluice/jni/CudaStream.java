package io.sluice.jni;

/**
 * Streams and events of a device, and the work submitted to them. See {@link CudaLibrary} for the conventions of these
 * classes.
 *
 * <p>Work is a table of records of {@link #REQUEST_BYTES} each. A stream executes its work in order. After each
 * operation it adds to or stores the operation's signal, then stores its word; the host and other devices see both
 * after everything before them. There are no callbacks and no allocations: the host polls the word.
 */
public final class CudaStream {
    /** Size of a request record in bytes. */
    public static final int REQUEST_BYTES = 96;

    /** Offset of the stream's handle in the record, a {@code long}. */
    public static final int REQUEST_STREAM_OFFSET = 0;

    /** Offset of the operation in the record, an {@code int}: one of this class's constants. */
    public static final int REQUEST_OPERATION_OFFSET = 8;

    /** Offset of the number of pages in the record, or of a launch's blocks in x; an {@code int}. */
    public static final int REQUEST_COUNT_OFFSET = 12;

    /**
     * Offset in the record of the destination address, or the event to record, or the bytes of a launch's dynamic
     * shared memory; a {@code long}.
     */
    public static final int REQUEST_DESTINATION_OFFSET = 16;

    /** Offset in the record of the source address, or the event to wait for, or a function, or a graph; a
     * {@code long}. */
    public static final int REQUEST_SOURCE_OFFSET = 24;

    /**
     * Offset of the number of bytes in the record, of each page if there are pages; or the value to fill with; or the
     * threads of a launch's block in x, y and z, 16 bits each; a {@code long}.
     */
    public static final int REQUEST_LENGTH_OFFSET = 32;

    /**
     * Offset in the record of the device address of the table of destination page offsets, 8 bytes each; or of the page
     * distance; or of the number of bytes to fill; or of the host address of the table of a launch's argument
     * addresses; a {@code long}.
     */
    public static final int REQUEST_DESTINATIONS_OFFSET = 40;

    /**
     * Offset in the record of the device address of the table of source page offsets, or of the page distance; or of a
     * launch's blocks in y, and above 32 bits in z; a {@code long}.
     */
    public static final int REQUEST_SOURCES_OFFSET = 48;

    /**
     * Offset in the record of the signal's device address, a {@code long}; 0 for none. An addition is atomic with
     * respect to others of the same device. With respect to those of another device it is atomic only over a link with
     * {@link CudaDevice#LINK_NATIVE_ATOMICS}; with respect to the host's it is not: store there.
     */
    public static final int REQUEST_SIGNAL_OFFSET = 56;

    /** Offset in the record of the value to add to the signal or to store, a {@code long}. */
    public static final int REQUEST_ADDEND_OFFSET = 64;

    /** Offset in the record of an {@code int}: 1 to store the value, 0 to add it. */
    public static final int REQUEST_SIGNAL_IS_STORE_OFFSET = 72;

    /** Offset in the record of an {@code int}: the most blocks of a copy by a kernel; 0 for as many as its stream may have. */
    public static final int REQUEST_MOST_BLOCKS_OFFSET = 76;

    /** Offset in the record of the word's device address, in pinned memory of the host, a {@code long}; 0 for none. */
    public static final int REQUEST_WORD_OFFSET = 80;

    /** Offset in the record of the value to store in the word, a {@code long}. */
    public static final int REQUEST_VALUE_OFFSET = 88;

    /** Operation: copy by a copy engine. */
    public static final int COPY = 1;

    /** Operation: copy pages of one size by a kernel, from and to the offsets in two tables. */
    public static final int COPY_PAGES = 2;

    /** Operation: copy pages of one size by a kernel, at even distances. */
    public static final int COPY_STRIDED = 3;

    /** Operation: store the CRC-32C of a range in the 8 bytes at the destination. */
    public static final int CHECKSUM = 4;

    /** Operation: fill with a byte. */
    public static final int FILL = 5;

    /** Operation: launch a kernel of the caller. An extent of 0 in y or z stands for 1. */
    public static final int LAUNCH = 6;

    /** Operation: later work waits for an event. */
    public static final int WAIT_EVENT = 7;

    /** Operation: record an event. */
    public static final int RECORD_EVENT = 8;

    /** Operation: only the signal and the word. */
    public static final int COMPLETE = 9;

    /**
     * Operation: a kernel adds the length field to the word at the destination, as atomically as a signal's addition,
     * and stores the word's previous value at the source. Both addresses are multiples of 8.
     */
    public static final int FETCH_ADD = 10;

    /**
     * Operation: as {@link #FETCH_ADD}, but stores the length field in the word if its value equals the field of the
     * destinations.
     */
    public static final int COMPARE_AND_SWAP = 11;

    /** Operation: launch the {@link CudaGraph} that the source field names. */
    public static final int LAUNCH_GRAPH = 12;

    static {
        NativeLibrary.ensureAvailable();
    }

    private CudaStream() {}

    /**
     * Creates a stream.
     *
     * @param device the device
     * @param kernels the module of Sluice's kernels on that device; must outlive the stream
     * @param priority greater than 0 for the highest priority of the device, else the lowest
     * @param maxBlocks the most blocks of a kernel, at least 1
     * @return the stream's handle, or an error
     */
    public static native long create(long device, long kernels, int priority, int maxBlocks);

    /**
     * Creates a stream without kernels of Sluice's: it takes {@link #COPY}, {@link #FILL}, {@link #LAUNCH}, {@link
     * #COMPLETE} and events, with words and without signals.
     *
     * @param device the device
     * @param priority as of {@link #create}
     * @return the stream's handle, or an error: {@code CUDA_ERROR_NOT_SUPPORTED} if its streams cannot write words
     */
    public static native long open(long device, int priority);

    /**
     * Makes a stream of the caller's known, for what {@link #open} takes. {@link #destroy} leaves it to the caller.
     *
     * @param device the device
     * @param handle the {@code CUstream} of the device's primary context; 0 for the default stream
     * @return the stream's handle, or an error
     */
    public static native long adopt(long device, long handle);

    /**
     * Submits requests to their streams, in order; they may belong to several streams and devices.
     *
     * @param requests the address of the records
     * @param count the number of records
     * @return how many the driver accepted, or an error if it refused the first. A refused request has no effect,
     *     unless only its signal or word was refused: {@link #query} returns that error once the stream's work is done. A stream that
     *     was opened or adopted is refused ({@code CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED}) while it is captured into a graph
     */
    public static native int submit(long requests, int count);

    /**
     * Returns whether a stream has completed all its work.
     *
     * @param stream the stream
     * @return 0 if so, {@code -CUDA_ERROR_NOT_READY} ({@link #NOT_READY}) if not, or another error if its work has
     *     failed
     */
    public static native int query(long stream);

    /** The result of {@link #query} and {@link #eventQuery} for unfinished work. */
    public static final int NOT_READY = -600;

    /**
     * Makes the stream add 1 to an event descriptor once all work submitted so far is done. Uses a thread of the
     * driver: meant for long work.
     *
     * @param stream the stream
     * @param descriptor the event descriptor, which must stay open until then
     * @return 0 or an error
     */
    public static native int signal(long stream, int descriptor);

    /**
     * Returns the driver's own handle of a stream, for code that submits its own work.
     *
     * @param stream the stream
     * @return the {@code CUstream}, or an error
     */
    public static native long handle(long stream);

    /**
     * Destroys a stream. It must have no work in flight: see {@link #query}.
     *
     * @param stream the stream
     * @return 0 or an error; the handle is gone in either case
     */
    public static native int destroy(long stream);

    /**
     * Creates an event, which counts as having happened until it is recorded.
     *
     * @param device the device
     * @return the event ({@code CUevent}), or an error
     */
    public static native long eventCreate(long device);

    /**
     * Creates an event that takes the time when it happens, which costs a stream a little.
     *
     * @param device the device
     * @return the event ({@code CUevent}), or an error
     */
    public static native long eventCreateTimed(long device);

    /**
     * Returns the time between two events that take it.
     *
     * @param device their device
     * @param begin the earlier event
     * @param end the later event
     * @return nanoseconds, to about half a microsecond; {@link #NOT_READY} until both have happened, or another error
     */
    public static native long eventElapsed(long device, long begin, long end);

    /**
     * Returns whether an event has happened.
     *
     * @param device its device
     * @param event the event
     * @return 0 if so, {@link #NOT_READY} if not, or another error
     */
    public static native int eventQuery(long device, long event);

    /**
     * Destroys an event; streams that wait for it keep waiting.
     *
     * @param device its device
     * @param event the event
     * @return 0 or an error
     */
    public static native int eventDestroy(long device, long event);
}
