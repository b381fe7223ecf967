package io.sluice.comm.nvshmem;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.sluice.comm.rounds.Functions;
import io.sluice.engine.SluiceException;
import io.sluice.experts.BackendUnavailableException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The functions of NVSHMEM's host library that are called here, and what the library is to this process: it has one set of
 * ranks for as long as the process runs.
 *
 * <p>The library ends the process where it is called before it is initialised, with addresses that are not its own, or for a
 * rank that there is not. Everything is checked here first, and nothing is called once it may have failed.
 */
final class NvshmemLibrary {
    static final int UNIQUE_ID_BYTES = 128;

    private static final int WITH_UNIQUE_ID = 8;
    private static final int INITIALISED = 2;
    private static final int SIGNAL_SET = 9;
    private static final int ATTRIBUTES_BYTES = 144;
    private static final int ARGUMENTS_AT = 16;
    private static final int ARGUMENTS_BYTES = 128;
    private static final int IDENTITY_AT = 24;
    private static final int IDENTITY_BYTES = 24;
    // of each structure: 1 above its length
    private static final int VERSION_1 = 1 << 16;

    static final String BROKEN_TEXT =
            "NVSHMEM has lost a rank or failed before, and cannot start again in its process: a new process is needed";

    private static final Map<String, NvshmemLibrary> OPEN = new ConcurrentHashMap<>();

    private final MethodHandle getUniqueId;
    private final MethodHandle initialise;
    private final MethodHandle status;
    private final MethodHandle rank;
    private final MethodHandle ranks;
    private final MethodHandle allocate;
    private final MethodHandle pointer;
    private final MethodHandle barrier;
    private final MethodHandle putSignal;
    private final @Nullable MethodHandle version;

    /** What it is to this process. */
    enum State {
        /** Not initialised yet. */
        NEW,
        /** Being initialised, by a call that waits for all ranks and may not come back. */
        OPENING,
        /** Initialised, and of use. */
        OPEN,
        /** Of no use any more. */
        BROKEN
    }

    private State state = State.NEW;
    private boolean inUse;
    private byte[] identity = {};
    private long world;
    private @Nullable NvshmemHeap heap;

    private NvshmemLibrary(String file, long symmetricBytes) {
        Functions functions = new Functions(
                file,
                List.of(
                        // multicast of NVLink can take a host's GPUs out of service
                        "NVSHMEM_DISABLE_NVLS=1",
                        "NCCL_NVLS_ENABLE=0",
                        // it would load NCCL for collectives, which are not called here
                        "NVSHMEM_DISABLE_NCCL=1",
                        "NVSHMEM_SYMMETRIC_SIZE=" + symmetricBytes));
        getUniqueId = functions.function("nvshmemx_get_uniqueid", FunctionDescriptor.of(JAVA_INT, ADDRESS));
        initialise =
                functions.function("nvshmemx_hostlib_init_attr", FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS));
        status = functions.function("nvshmemx_init_status", FunctionDescriptor.of(JAVA_INT));
        rank = functions.function("nvshmem_my_pe", FunctionDescriptor.of(JAVA_INT));
        ranks = functions.function("nvshmem_n_pes", FunctionDescriptor.of(JAVA_INT));
        allocate = functions.function("nvshmem_malloc", FunctionDescriptor.of(ADDRESS, JAVA_LONG));
        pointer = functions.function("nvshmem_ptr", FunctionDescriptor.of(ADDRESS, ADDRESS, JAVA_INT));
        barrier = functions.function("nvshmem_barrier_all", FunctionDescriptor.ofVoid());
        putSignal = functions.function(
                "nvshmemx_putmem_signal_on_stream",
                FunctionDescriptor.ofVoid(
                        ADDRESS, ADDRESS, JAVA_LONG, ADDRESS, JAVA_LONG, JAVA_INT, JAVA_INT, ADDRESS));
        version = functions.find(
                "nvshmemx_vendor_get_version_info", FunctionDescriptor.ofVoid(ADDRESS, ADDRESS, ADDRESS));
    }

    /**
     * Opens a library, once for each file.
     *
     * @param symmetricBytes how much memory of the GPU it takes when it is initialised
     * @throws BackendUnavailableException if it cannot be used
     */
    static NvshmemLibrary open(String file, long symmetricBytes) {
        return OPEN.computeIfAbsent(file, opened -> new NvshmemLibrary(opened, symmetricBytes));
    }

    // ---- what it is to this process ----

    /**
     * Takes it for one back end.
     *
     * @throws BackendUnavailableException if another one has it
     */
    synchronized void take() {
        if (inUse) {
            throw new BackendUnavailableException(
                    switch (state) {
                        case BROKEN -> BROKEN_TEXT;
                        case OPENING ->
                            "NVSHMEM is being initialised for another expert buffer of this process: wait for it; where it has"
                                    + " ended with an error, a new process is needed";
                        case NEW, OPEN ->
                            "NVSHMEM carries one expert buffer of a process at a time: close the other one first, and wait"
                                    + " until it is closed";
                    });
        }
        inUse = true;
    }

    synchronized void giveBack() {
        inUse = false;
    }

    synchronized State state() {
        return state;
    }

    /** The ranks that it was initialised for. */
    synchronized long world() {
        return world;
    }

    /** It is about to be initialised, with a unique id. */
    synchronized void opening(byte[] id) {
        state = State.OPENING;
        identity = id.clone();
    }

    /** Nothing is called any more. */
    synchronized void broken() {
        state = State.BROKEN;
    }

    synchronized @Nullable NvshmemHeap heap() {
        return heap;
    }

    synchronized void opened(long ofWorld, NvshmemHeap allocated) {
        state = State.OPEN;
        world = ofWorld;
        heap = allocated;
    }

    // ---- functions ----

    private static RuntimeException thrown(Throwable e) {
        if (e instanceof RuntimeException known) {
            return known;
        }
        if (e instanceof Error error) {
            throw error;
        }
        return new IllegalStateException(e);
    }

    String versionText() {
        MethodHandle function = version;
        if (function == null) {
            return "";
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment numbers = arena.allocate(JAVA_INT, 3);
            function.invokeExact(numbers, numbers.asSlice(4), numbers.asSlice(8));
            return " " + numbers.getAtIndex(JAVA_INT, 0) + "." + numbers.getAtIndex(JAVA_INT, 1) + "."
                    + numbers.getAtIndex(JAVA_INT, 2);
        } catch (Throwable e) {
            throw thrown(e);
        }
    }

    /**
     * Draws a unique id; where it has been initialised, returns that of its ranks: those of another cannot join them, which
     * all learn when they open their back ends.
     */
    byte[] uniqueId() {
        byte[] known = identity();
        return known.length > 0 ? known : draw();
    }

    private synchronized byte[] identity() {
        return identity.clone();
    }

    private byte[] draw() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment id = arena.allocate(UNIQUE_ID_BYTES, Long.BYTES);
            id.set(JAVA_INT, 0, VERSION_1 + UNIQUE_ID_BYTES);
            int result = (int) getUniqueId.invokeExact(id);
            if (result != 0) {
                throw new BackendUnavailableException(
                        "NVSHMEM draws no unique id (" + result
                                + "): is nvshmem_bootstrap_uid.so.3 where the dynamic linker looks, and a network interface up?");
            }
            return id.toArray(JAVA_BYTE);
        } catch (Throwable e) {
            throw thrown(e);
        }
    }

    /** Initialises it; waits for all ranks. The context of the rank's GPU is the thread's. */
    void initialise(byte[] id, int ownRank, int allRanks) {
        // never freed: the library keeps addresses of it
        MemorySegment uniqueId = Arena.global().allocate(UNIQUE_ID_BYTES, Long.BYTES);
        MemorySegment.copy(id, 0, uniqueId, JAVA_BYTE, 0, UNIQUE_ID_BYTES);
        MemorySegment attributes = Arena.global().allocate(ATTRIBUTES_BYTES, Long.BYTES);
        attributes.set(JAVA_INT, 0, VERSION_1 + ATTRIBUTES_BYTES);
        attributes.set(JAVA_INT, ARGUMENTS_AT, VERSION_1 + ARGUMENTS_BYTES);
        attributes.set(JAVA_INT, IDENTITY_AT, VERSION_1 + IDENTITY_BYTES);
        attributes.set(ADDRESS, IDENTITY_AT + 8, uniqueId);
        attributes.set(JAVA_INT, IDENTITY_AT + 16, ownRank);
        attributes.set(JAVA_INT, IDENTITY_AT + 20, allRanks);
        try {
            int result = (int) initialise.invokeExact(WITH_UNIQUE_ID, attributes);
            int reached = result == 0 ? (int) status.invokeExact() : 0;
            if (result != 0 || reached != INITIALISED) {
                throw new SluiceException("NVSHMEM could not be initialised (" + result + ", status " + reached
                        + "); NVSHMEM_DEBUG=INFO says more. A new process is needed.");
            }
            int is = (int) rank.invokeExact();
            int of = (int) ranks.invokeExact();
            if (is != ownRank || of != allRanks) {
                throw new SluiceException(
                        "NVSHMEM takes rank " + ownRank + " of " + allRanks + " for " + is + " of " + of);
            }
        } catch (Throwable e) {
            throw thrown(e);
        }
    }

    /** Allocates on all ranks, and waits for them. */
    long allocate(long bytes) {
        try {
            MemorySegment allocated = (MemorySegment) allocate.invokeExact(bytes);
            if (allocated.equals(MemorySegment.NULL)) {
                throw new SluiceException("NVSHMEM has no " + bytes + " bytes of symmetric memory: see "
                        + NvshmemBackendProvider.GPU_BYTES_PROPERTY);
            }
            return allocated.address();
        } catch (Throwable e) {
            throw thrown(e);
        }
    }

    /** Where this GPU reaches another rank's memory; 0 if it does not. */
    long pointer(long address, int other) {
        try {
            return ((MemorySegment) pointer.invokeExact(MemorySegment.ofAddress(address), other)).address();
        } catch (Throwable e) {
            throw thrown(e);
        }
    }

    /** Waits for all ranks. */
    void barrier() {
        try {
            barrier.invokeExact();
        } catch (Throwable e) {
            throw thrown(e);
        }
    }

    /** Adds a put to a stream, behind which the word is set. All addresses are this rank's. */
    void putSignal(long to, long from, long bytes, long word, long value, int other, MemorySegment stream) {
        try {
            putSignal.invokeExact(
                    MemorySegment.ofAddress(to),
                    MemorySegment.ofAddress(from),
                    bytes,
                    MemorySegment.ofAddress(word),
                    value,
                    SIGNAL_SET,
                    other,
                    stream);
        } catch (Throwable e) {
            throw thrown(e);
        }
    }
}
