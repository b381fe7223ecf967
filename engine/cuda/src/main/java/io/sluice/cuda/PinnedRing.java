package io.sluice.cuda;

import io.sluice.engine.transport.Deadline;
import io.sluice.engine.transport.EventLoop;
import io.sluice.engine.transport.StagedMemory;
import io.sluice.engine.transport.StagingRing;
import io.sluice.jni.CudaLibrary;
import io.sluice.jni.CudaStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Pieces of pinned memory that streams of GPUs fill or empty. A stream stores a number in the piece's word when it is
 * done. On the loop, but for what the driver takes long for: the transport's threads do that.
 */
final class PinnedRing implements StagingRing, EventLoop.Source {
    /** How many pieces a ring has. */
    static final int PIECES = 8;

    /** The size of a ring is a multiple of this, so that each piece begins at a page. */
    static final long PAGES_BYTES = PIECES * 4096L;

    private static final Logger LOG = LoggerFactory.getLogger(PinnedRing.class);
    private static final VarHandle WORD = ValueLayout.JAVA_LONG.varHandle();
    private static final long LINE_BYTES = 64;
    private static final long COLUMN_BYTES = (long) MOST_COPIES * Long.BYTES;
    private static final long MOST_BYTES_BY_KERNEL = 256 << 10;
    private static final long SHORTEST_PARK_NANOS = 20_000;
    private static final long LONGEST_PARK_NANOS = 1_000_000;
    private static final int PARTS_OF_WAIT = 8;
    private static final long INQUIRY_NANOS = 1_000_000;

    private final PinnedRings rings;
    private final EventLoop loop;
    private final Runnable progress;
    private final long pieceBytes;
    private final Alarm alarm = new Alarm();
    private final State[] states;
    // by GPU; written by the thread before the state is open
    private final long[] streams;
    // of the threads that open and close; null until memory was pinned
    private @Nullable PinnedMemory made;
    // of the loop
    private @Nullable PinnedMemory pinned;
    private MemorySegment memory = MemorySegment.NULL;
    private MemorySegment records = MemorySegment.NULL;

    // by piece; a number of 0: nothing is under way
    private final long[] numbers = new long[PIECES];
    private final long[] postedAt = new long[PIECES];
    private final int[] ordinals = new int[PIECES];
    private final boolean[] failures = new boolean[PIECES];
    private long number;
    private boolean isSource;
    private long inquiredAt;
    private int opening;
    private long openingSince;
    private boolean closed;

    // the piece that is being described
    private int piece;
    private @Nullable DeviceRegistration device;
    private boolean out;
    private int count;
    private long bytes;
    private final long[] lengths = new long[MOST_COPIES];
    private boolean isEven;

    private enum State {
        NEW,
        OPENING,
        OPEN,
        REFUSED
    }

    /** Ends a park. */
    private static final class Alarm extends Deadline {
        @Override
        protected void expired() {
            // the sources are polled in the same cycle
        }
    }

    PinnedRing(PinnedRings rings, EventLoop loop, Runnable progress) {
        this.rings = rings;
        this.loop = loop;
        this.progress = progress;
        this.pieceBytes = rings.bytes() / PIECES;
        this.states = new State[rings.gpus().count()];
        Arrays.fill(states, State.NEW);
        this.streams = new long[states.length];
    }

    // ---- opening ----

    @Override
    public boolean isReady(StagedMemory of) {
        int ordinal = registration(of).gpu().ordinal();
        if (states[ordinal] == State.NEW) {
            states[ordinal] = State.OPENING;
            openingSince = loop.now();
            opening++;
            try {
                rings.thread().execute(() -> open(ordinal));
            } catch (RejectedExecutionException closing) {
                opened(ordinal, null);
            }
        }
        return states[ordinal] != State.OPENING;
    }

    private static DeviceRegistration registration(StagedMemory of) {
        if (of instanceof DeviceRegistration device) {
            return device;
        }
        throw new IllegalArgumentException("not memory of a GPU: " + of);
    }

    /** On the thread. */
    private void open(int ordinal) {
        boolean isOpen = false;
        try {
            Gpu gpu = rings.gpus().open(ordinal);
            PinnedMemory own = made;
            if (own == null) {
                own = new PinnedMemory(
                        gpu.device(), gpu.metrics(), PIECES * (pieceBytes + LINE_BYTES + 2 * COLUMN_BYTES));
                // touches every page, which the poller would wait for
                own.segment().fill((byte) 0);
                made = own;
            }
            streams[ordinal] = gpu.newStream();
            GpuStreams.awaitBeginning(streams[ordinal], System.nanoTime());
            isOpen = true;
        } catch (CudaException | OutOfMemoryError e) {
            LOG.warn("GPU {} cannot copy through the host", ordinal, e);
        }
        PinnedMemory result = isOpen ? made : null;
        loop.execute(() -> {
            opened(ordinal, result);
            if (!closed) {
                progress.run();
            }
        });
    }

    private void opened(int ordinal, @Nullable PinnedMemory own) {
        opening--;
        if (own != null && pinned == null) {
            pinned = own;
            memory = own.segment();
            records = Arena.ofAuto().allocate((long) MOST_COPIES * CudaStream.REQUEST_BYTES, Long.BYTES);
        } else if (memory.byteSize() == 0) {
            // without pinned memory all pieces fail, and yet something is received
            memory = Arena.ofAuto().allocate(PIECES * pieceBytes, LINE_BYTES);
        }
        states[ordinal] = own == null ? State.REFUSED : State.OPEN;
    }

    @Override
    public int pieces() {
        return PIECES;
    }

    @Override
    public long pieceBytes() {
        return pieceBytes;
    }

    @Override
    public MemorySegment memory() {
        return memory;
    }

    // ---- copies ----

    private static long wordOffset(long pieceBytes, int piece) {
        return PIECES * pieceBytes + piece * LINE_BYTES;
    }

    private long tableOffset(int of) {
        return PIECES * (pieceBytes + LINE_BYTES) + of * 2L * COLUMN_BYTES;
    }

    @Override
    public void begin(int of, StagedMemory from, boolean isOut) {
        piece = of;
        device = registration(from);
        out = isOut;
        count = 0;
        bytes = 0;
        isEven = true;
        failures[of] = false;
        if (numbers[of] != 0) {
            ended(of);
        }
    }

    @Override
    public void add(long address, long at, long length) {
        PinnedMemory own = pinned;
        if (own == null) {
            return;
        }
        long host = own.deviceAddress() + piece * pieceBytes + at;
        long entry = tableOffset(piece) + (long) count * Long.BYTES;
        memory.set(ValueLayout.JAVA_LONG, entry, out ? host : address);
        memory.set(ValueLayout.JAVA_LONG, entry + COLUMN_BYTES, out ? address : host);
        isEven &= count == 0 || length == lengths[0];
        lengths[count++] = length;
        bytes += length;
    }

    @Override
    public void end() {
        DeviceRegistration from = device;
        device = null;
        PinnedMemory own = pinned;
        if (from == null || own == null || !from.isAlive() || states[from.gpu().ordinal()] != State.OPEN) {
            failures[piece] = true;
            return;
        }
        int ordinal = from.gpu().ordinal();
        int made = 0;
        if (rings.kernels() && isEven && count > 1 && lengths[0] <= MOST_BYTES_BY_KERNEL) {
            record(made++, ordinal, CudaStream.COPY_PAGES, 0, 0, lengths[0]);
            records.set(ValueLayout.JAVA_INT, CudaStream.REQUEST_COUNT_OFFSET, count);
            long table = own.deviceAddress() + tableOffset(piece);
            put(0, CudaStream.REQUEST_DESTINATIONS_OFFSET, table);
            put(0, CudaStream.REQUEST_SOURCES_OFFSET, table + COLUMN_BYTES);
        } else {
            for (; made < count; made++) {
                long entry = tableOffset(piece) + (long) made * Long.BYTES;
                record(
                        made,
                        ordinal,
                        CudaStream.COPY,
                        memory.get(ValueLayout.JAVA_LONG, entry),
                        memory.get(ValueLayout.JAVA_LONG, entry + COLUMN_BYTES),
                        lengths[made]);
            }
        }
        numbers[piece] = ++number;
        postedAt[piece] = System.nanoTime();
        ordinals[piece] = ordinal;
        word(made - 1, own);
        submit(made, ordinal, own);
        if (numbers[piece] != 0) {
            rings.gpus().metrics().get(ordinal).staged(bytes);
        }
        if (!isSource) {
            isSource = true;
            inquiredAt = loop.now();
            loop.addSource(this);
        }
    }

    private void record(int at, int ordinal, int operation, long destination, long source, long length) {
        for (int i = 0; i < CudaStream.REQUEST_BYTES; i += Long.BYTES) {
            put(at, i, 0);
        }
        put(at, CudaStream.REQUEST_STREAM_OFFSET, streams[ordinal]);
        records.set(
                ValueLayout.JAVA_INT,
                (long) at * CudaStream.REQUEST_BYTES + CudaStream.REQUEST_OPERATION_OFFSET,
                operation);
        put(at, CudaStream.REQUEST_DESTINATION_OFFSET, destination);
        put(at, CudaStream.REQUEST_SOURCE_OFFSET, source);
        put(at, CudaStream.REQUEST_LENGTH_OFFSET, length);
    }

    private void put(int at, int offset, long value) {
        records.set(ValueLayout.JAVA_LONG, (long) at * CudaStream.REQUEST_BYTES + offset, value);
    }

    private void word(int at, PinnedMemory own) {
        put(at, CudaStream.REQUEST_WORD_OFFSET, own.deviceAddress() + wordOffset(pieceBytes, piece));
        put(at, CudaStream.REQUEST_VALUE_OFFSET, numbers[piece]);
    }

    private void submit(int all, int ordinal, PinnedMemory own) {
        int submitted = 0;
        while (submitted < all) {
            int taken =
                    CudaStream.submit(records.address() + (long) submitted * CudaStream.REQUEST_BYTES, all - submitted);
            if (taken > 0) {
                submitted += taken;
                continue;
            }
            LOG.warn("a GPU does not take a copy through the host: {}", CudaLibrary.errorText(taken));
            failures[piece] = true;
            if (++submitted == all) {
                // only the word says that the GPU is done with those before
                record(0, ordinal, CudaStream.COMPLETE, 0, 0, 0);
                word(0, own);
                if (all == 1 || CudaStream.submit(records.address(), 1) < 1) {
                    refused(ordinal, all == 1);
                }
            }
        }
    }

    /** Nothing will store the piece's word. */
    private void refused(int ordinal, boolean nothingIsUnderWay) {
        if (nothingIsUnderWay) {
            numbers[piece] = 0;
        } else {
            states[ordinal] = State.REFUSED;
        }
    }

    private boolean isReached(int of) {
        return (long) WORD.getAcquire(memory, wordOffset(pieceBytes, of)) == numbers[of];
    }

    @Override
    public boolean isDone(int of) {
        return numbers[of] == 0 || isReached(of);
    }

    @Override
    public boolean hasFailed(int of) {
        return failures[of];
    }

    @Override
    public boolean isIdle() {
        for (int i = 0; i < PIECES; i++) {
            if (!isDone(i)) {
                return false;
            }
        }
        return true;
    }

    @Override
    public long waited(long now) {
        long waited = opening == 0 ? 0 : now - openingSince;
        for (int i = 0; i < PIECES; i++) {
            if (!isDone(i)) {
                waited = Math.max(waited, now - postedAt[i]);
            }
        }
        return waited;
    }

    // ---- completions ----

    @Override
    public int poll() {
        int done = endReached();
        boolean busy = false;
        for (int i = 0; i < PIECES; i++) {
            busy |= numbers[i] != 0;
        }
        if (busy) {
            done += inquire();
        } else {
            isSource = false;
            loop.removeSource(this);
        }
        if (done > 0 && !closed) {
            progress.run();
        }
        return done;
    }

    /** Counts the pieces that are done; how many there were. */
    private int endReached() {
        int done = 0;
        for (int i = 0; i < PIECES; i++) {
            if (numbers[i] != 0 && isReached(i)) {
                ended(i);
                done++;
            }
        }
        return done;
    }

    private void ended(int of) {
        rings.gpus().metrics().get(ordinals[of]).stagedDone(System.nanoTime() - postedAt[of]);
        numbers[of] = 0;
    }

    /** Asks the driver whether what takes long has failed; how many pieces that are. */
    private int inquire() {
        long now = loop.now();
        if (now - inquiredAt < INQUIRY_NANOS) {
            return 0;
        }
        inquiredAt = now;
        int failed = 0;
        for (int i = 0; i < PIECES; i++) {
            if (numbers[i] == 0 || now - postedAt[i] < INQUIRY_NANOS) {
                continue;
            }
            int state = CudaStream.query(streams[ordinals[i]]);
            boolean isRefused = states[ordinals[i]] == State.REFUSED;
            if (state != CudaStream.NOT_READY && (state < 0 || isRefused) && !isReached(i)) {
                LOG.warn("GPU {} has failed: {}", ordinals[i], CudaLibrary.errorText(state));
                states[ordinals[i]] = State.REFUSED;
                failures[i] = true;
                numbers[i] = 0;
                failed++;
            }
        }
        return failed;
    }

    @Override
    public boolean arm() {
        long oldest = Long.MAX_VALUE;
        for (int i = 0; i < PIECES; i++) {
            if (numbers[i] != 0) {
                if (isReached(i)) {
                    return false;
                }
                oldest = Math.min(oldest, postedAt[i]);
            }
        }
        if (oldest != Long.MAX_VALUE) {
            long now = System.nanoTime();
            loop.arm(alarm, now + Math.clamp((now - oldest) / PARTS_OF_WAIT, SHORTEST_PARK_NANOS, LONGEST_PARK_NANOS));
        }
        return true;
    }

    // ---- the end ----

    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        loop.disarm(alarm);
        if (isSource) {
            isSource = false;
            loop.removeSource(this);
            // pieces that were done since it looked last
            endReached();
        }
        try {
            // behind what opens it
            rings.thread().execute(() -> rings.releases().execute(this::giveBack));
        } catch (RejectedExecutionException closing) {
            giveBack();
        }
    }

    /** On the thread of releases: the driver waits for other work of the GPU first. */
    private void giveBack() {
        boolean isKept = false;
        for (int i = 0; i < streams.length; i++) {
            if (streams[i] == 0) {
                continue;
            }
            // the driver notices a little later that a stream is done
            GpuStreams.awaitBeginning(streams[i], System.nanoTime());
            if (CudaStream.query(streams[i]) == CudaStream.NOT_READY) {
                rings.gpus().open(i).keep();
                isKept = true;
            } else {
                CudaStream.destroy(streams[i]);
            }
        }
        PinnedMemory own = made;
        if (own != null && !isKept) {
            own.close();
        }
    }
}
