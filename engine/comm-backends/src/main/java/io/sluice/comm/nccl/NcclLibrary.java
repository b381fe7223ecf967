package io.sluice.comm.nccl;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.sluice.comm.rounds.Functions;
import io.sluice.engine.SluiceException;
import io.sluice.experts.BackendUnavailableException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The functions of libnccl that are called here, all with results of {@code ncclResult_t}. Communicators do not block: a
 * call may return that it is in progress, and the communicator says when it no longer is.
 */
final class NcclLibrary {
    static final int SUCCESS = 0;
    static final int IN_PROGRESS = 7;
    static final int UNIQUE_ID_BYTES = 128;
    static final int BYTES = 1;
    static final int SYMMETRIC_WINDOW = 1;
    /** A {@code ncclWaitSignalDesc_t}: operations, rank, index, context. */
    static final int WAIT_BYTES = 4 * Integer.BYTES;

    // 2.18, the first whose configuration is of this form; newer libraries take it as well
    private static final int CONFIGURATION_VERSION = 21_800;
    private static final int LEAST_VERSION = CONFIGURATION_VERSION;
    private static final int CONFIGURATION_BYTES = 48;
    private static final int CONFIGURATION_MAGIC = 0xcafebeef;
    private static final int UNDEFINED = Integer.MIN_VALUE;
    private static final int LONGEST_TEXT = 4096;

    private static final List<String> VARIABLES = List.of(
            // multicast of NVLink can take a host's GPUs out of service
            "NCCL_NVLS_ENABLE=0",
            "NVSHMEM_DISABLE_NVLS=1",
            // it would overrule the communicators' own
            "NCCL_COMM_BLOCKING=0");
    // without those that newer versions have
    private static final List<String> FUNCTIONS = List.of(
            "ncclGetVersion",
            "ncclGetUniqueId",
            "ncclCommInitRankConfig",
            "ncclCommGetAsyncError",
            "ncclCommAbort",
            "ncclGetErrorString",
            "ncclGroupStart",
            "ncclGroupEnd",
            "ncclSend",
            "ncclRecv");
    private static final MemoryLayout UNIQUE_ID =
            MemoryLayout.structLayout(MemoryLayout.sequenceLayout(UNIQUE_ID_BYTES, JAVA_BYTE));
    private static final Map<String, NcclLibrary> OPEN = new ConcurrentHashMap<>();
    private static final Logger LOG = LoggerFactory.getLogger(NcclLibrary.class);

    private final int version;
    private final MethodHandle getUniqueId;
    private final MethodHandle initialise;
    private final MethodHandle state;
    private final MethodHandle abort;
    private final MethodHandle text;
    private final @Nullable MethodHandle lastError;
    private final MethodHandle groupStart;
    private final MethodHandle groupEnd;
    private final MethodHandle send;
    private final MethodHandle receive;
    // newer ones
    private final @Nullable MethodHandle allocate;
    private final @Nullable MethodHandle free;
    private final @Nullable MethodHandle register;
    private final @Nullable MethodHandle putSignal;
    private final @Nullable MethodHandle waitSignal;

    private NcclLibrary(String file) {
        Functions functions = new Functions(file, VARIABLES);
        version = version(functions);
        if (version < LEAST_VERSION) {
            throw new BackendUnavailableException(file + " is NCCL " + versionText() + ": use 2.18 or newer");
        }
        getUniqueId = functions.function("ncclGetUniqueId", FunctionDescriptor.of(JAVA_INT, ADDRESS));
        initialise = functions.function(
                "ncclCommInitRankConfig",
                FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT, UNIQUE_ID, JAVA_INT, ADDRESS));
        state = functions.function("ncclCommGetAsyncError", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS));
        abort = functions.function("ncclCommAbort", FunctionDescriptor.of(JAVA_INT, ADDRESS));
        text = functions.function("ncclGetErrorString", FunctionDescriptor.of(ADDRESS, JAVA_INT));
        lastError = functions.find("ncclGetLastError", FunctionDescriptor.of(ADDRESS, ADDRESS));
        groupStart = functions.function("ncclGroupStart", FunctionDescriptor.of(JAVA_INT));
        groupEnd = functions.function("ncclGroupEnd", FunctionDescriptor.of(JAVA_INT));
        FunctionDescriptor transfer =
                FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_LONG, JAVA_INT, JAVA_INT, ADDRESS, ADDRESS);
        send = functions.function("ncclSend", transfer);
        receive = functions.function("ncclRecv", transfer);
        allocate = functions.find("ncclMemAlloc", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_LONG));
        free = functions.find("ncclMemFree", FunctionDescriptor.of(JAVA_INT, ADDRESS));
        register = functions.find(
                "ncclCommWindowRegister",
                FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, JAVA_LONG, ADDRESS, JAVA_INT));
        putSignal = functions.find(
                "ncclPutSignal",
                FunctionDescriptor.of(
                        JAVA_INT, ADDRESS, JAVA_LONG, JAVA_INT, JAVA_INT, ADDRESS, JAVA_LONG, JAVA_INT, JAVA_INT,
                        JAVA_INT, ADDRESS, ADDRESS));
        waitSignal =
                functions.find("ncclWaitSignal", FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS, ADDRESS, ADDRESS));
    }

    /**
     * Opens a library, once for each file.
     *
     * @throws BackendUnavailableException if it cannot be used
     */
    static NcclLibrary open(String file) {
        return OPEN.computeIfAbsent(file, NcclLibrary::new);
    }

    /** Says why a library could not be used, or null; does not open it. */
    static @Nullable String whyUnusable(String file) {
        return OPEN.containsKey(file) ? null : Functions.whyUnusable(file, FUNCTIONS);
    }

    /** Says which version a library is if it is open, else its file. */
    static String describe(String file) {
        NcclLibrary opened = OPEN.get(file);
        return opened == null ? "NCCL of " + file : "NCCL " + opened.versionText();
    }

    private static int version(Functions functions) {
        MethodHandle get = functions.function("ncclGetVersion", FunctionDescriptor.of(JAVA_INT, ADDRESS));
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment number = arena.allocate(JAVA_INT);
            if ((int) get.invokeExact(number) != SUCCESS) {
                throw new BackendUnavailableException(functions.file() + " does not say its version");
            }
            return number.get(JAVA_INT, 0);
        } catch (Throwable e) {
            throw thrown(e);
        }
    }

    /** As the library numbers them. */
    int version() {
        return version;
    }

    String versionText() {
        return versionText(version);
    }

    /** A number of theirs as people write it. */
    static String versionText(int number) {
        return number / 10_000 + "." + number / 100 % 100 + "." + number % 100;
    }

    /** Whether it has windows, and puts into them with signals. */
    boolean hasWindows() {
        return allocate != null && free != null && register != null && putSignal != null && waitSignal != null;
    }

    /** A call by its handle throws nothing of its own. */
    private static RuntimeException thrown(Throwable e) {
        if (e instanceof RuntimeException known) {
            return known;
        }
        if (e instanceof Error error) {
            throw error;
        }
        return new IllegalStateException(e);
    }

    /** Throws unless a call has succeeded or is in progress. */
    void check(String what, int result, MemorySegment communicator) {
        if (result != SUCCESS && result != IN_PROGRESS) {
            throw new SluiceException(
                    "NCCL " + versionText() + " could not " + what + ": " + text(result, communicator));
        }
    }

    private String text(int result, MemorySegment communicator) {
        try {
            String meaning = string((MemorySegment) text.invokeExact(result));
            MethodHandle last = lastError;
            String more = last == null || communicator.equals(MemorySegment.NULL)
                    ? ""
                    : string((MemorySegment) last.invokeExact(communicator));
            return more.isBlank() ? meaning : meaning + " (" + more.strip() + ")";
        } catch (Throwable e) {
            throw thrown(e);
        }
    }

    private static String string(MemorySegment text) {
        return text.equals(MemorySegment.NULL)
                ? ""
                : text.reinterpret(LONGEST_TEXT).getString(0);
    }

    byte[] uniqueId() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment id = arena.allocate(UNIQUE_ID);
            check("draw a unique id", (int) getUniqueId.invokeExact(id), MemorySegment.NULL);
            return id.toArray(JAVA_BYTE);
        } catch (Throwable e) {
            throw thrown(e);
        }
    }

    /** Starts to create a communicator; its memory must stay until it exists. */
    void initialise(Arena arena, MemorySegment communicator, byte[] id, int rank, int ranks) {
        MemorySegment uniqueId = arena.allocate(UNIQUE_ID);
        MemorySegment.copy(id, 0, uniqueId, JAVA_BYTE, 0, UNIQUE_ID_BYTES);
        MemorySegment configuration = arena.allocate(CONFIGURATION_BYTES, Long.BYTES);
        configuration.set(JAVA_LONG, 0, CONFIGURATION_BYTES);
        configuration.set(JAVA_INT, 8, CONFIGURATION_MAGIC);
        configuration.set(JAVA_INT, 12, CONFIGURATION_VERSION);
        // blocking
        configuration.set(JAVA_INT, 16, 0);
        // the size of clusters, the fewest and the most blocks
        configuration.set(JAVA_INT, 20, UNDEFINED);
        configuration.set(JAVA_INT, 24, UNDEFINED);
        configuration.set(JAVA_INT, 28, UNDEFINED);
        // the network's name
        configuration.set(JAVA_LONG, 32, 0);
        // sharing with communicators split off
        configuration.set(JAVA_INT, 40, UNDEFINED);
        try {
            check(
                    "create a communicator",
                    (int) initialise.invokeExact(communicator, ranks, uniqueId, rank, configuration),
                    MemorySegment.NULL);
        } catch (Throwable e) {
            throw thrown(e);
        }
    }

    /** Returns whether a communicator is ready for another call; throws if it has ended with an error. */
    boolean isReady(MemorySegment communicator, MemorySegment result) {
        try {
            check("say how it is", (int) state.invokeExact(communicator, result), communicator);
        } catch (Throwable e) {
            throw thrown(e);
        }
        check("go on", result.get(JAVA_INT, 0), communicator);
        return result.get(JAVA_INT, 0) == SUCCESS;
    }

    /** Ends a communicator, with what is under way on it; false if it could not, which is logged. */
    boolean abort(MemorySegment communicator) {
        try {
            return hasDone("abort a communicator", (int) abort.invokeExact(communicator));
        } catch (Throwable e) {
            throw thrown(e);
        }
    }

    private boolean hasDone(String what, int result) {
        if (result != SUCCESS) {
            LOG.warn("NCCL {} could not {}: {}", versionText(), what, text(result, MemorySegment.NULL));
        }
        return result == SUCCESS;
    }

    void startGroup() {
        try {
            check("start a group", (int) groupStart.invokeExact(), MemorySegment.NULL);
        } catch (Throwable e) {
            throw thrown(e);
        }
    }

    void endGroup(MemorySegment communicator) {
        try {
            check("end a group", (int) groupEnd.invokeExact(), communicator);
        } catch (Throwable e) {
            throw thrown(e);
        }
    }

    void send(long from, long bytes, int rank, MemorySegment communicator, MemorySegment stream) {
        try {
            check(
                    "send to rank " + rank,
                    (int) send.invokeExact(MemorySegment.ofAddress(from), bytes, BYTES, rank, communicator, stream),
                    communicator);
        } catch (Throwable e) {
            throw thrown(e);
        }
    }

    void receive(long to, long bytes, int rank, MemorySegment communicator, MemorySegment stream) {
        try {
            check(
                    "receive from rank " + rank,
                    (int) receive.invokeExact(MemorySegment.ofAddress(to), bytes, BYTES, rank, communicator, stream),
                    communicator);
        } catch (Throwable e) {
            throw thrown(e);
        }
    }

    private static MethodHandle present(@Nullable MethodHandle function) {
        if (function == null) {
            throw new IllegalStateException("this NCCL has no windows");
        }
        return function;
    }

    /** Allocates memory of the GPU that a window may have. */
    long allocate(long bytes) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment address = arena.allocate(ADDRESS);
            check(
                    "allocate " + bytes + " bytes",
                    (int) present(allocate).invokeExact(address, bytes),
                    MemorySegment.NULL);
            return address.get(JAVA_LONG, 0);
        } catch (Throwable e) {
            throw thrown(e);
        }
    }

    /** Frees memory of the GPU; false if it could not, which is logged. */
    boolean free(long address) {
        try {
            return hasDone("free memory", (int) present(free).invokeExact(MemorySegment.ofAddress(address)));
        } catch (Throwable e) {
            throw thrown(e);
        }
    }

    /** Starts to make a window of memory on all ranks. */
    void register(MemorySegment communicator, long address, long bytes, MemorySegment window) {
        try {
            check(
                    "register a window",
                    (int) present(register)
                            .invokeExact(
                                    communicator, MemorySegment.ofAddress(address), bytes, window, SYMMETRIC_WINDOW),
                    communicator);
        } catch (Throwable e) {
            throw thrown(e);
        }
    }

    void putSignal(
            long from,
            long bytes,
            int rank,
            MemorySegment window,
            long offset,
            MemorySegment communicator,
            MemorySegment stream) {
        try {
            check(
                    "put to rank " + rank,
                    (int) present(putSignal)
                            .invokeExact(
                                    MemorySegment.ofAddress(from),
                                    bytes,
                                    BYTES,
                                    rank,
                                    window,
                                    offset,
                                    0,
                                    0,
                                    0,
                                    communicator,
                                    stream),
                    communicator);
        } catch (Throwable e) {
            throw thrown(e);
        }
    }

    void waitSignal(int count, MemorySegment waits, MemorySegment communicator, MemorySegment stream) {
        try {
            check(
                    "wait for signals",
                    (int) present(waitSignal).invokeExact(count, waits, communicator, stream),
                    communicator);
        } catch (Throwable e) {
            throw thrown(e);
        }
    }
}
