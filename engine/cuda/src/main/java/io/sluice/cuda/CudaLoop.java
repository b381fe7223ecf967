package io.sluice.cuda;

import io.sluice.engine.transport.CompletionStatus;
import io.sluice.engine.transport.Deadline;
import io.sluice.engine.transport.Endpoint;
import io.sluice.engine.transport.EndpointContext;
import io.sluice.engine.transport.EventLoop;
import io.sluice.engine.transport.SecretSource;
import io.sluice.engine.transport.TransportLoop;
import io.sluice.jni.CudaDevice;
import io.sluice.jni.CudaLibrary;
import io.sluice.jni.CudaStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The GPU state of one poller: streams, and the records that its connections have made in this cycle, which go to the driver together.
 * While a GPU has work of it the poller looks at words in pinned memory; nothing wakes it for one, so that it parks for a part of the
 * time that the oldest has taken by then. Without work there is nothing to look at.
 */
final class CudaLoop implements TransportLoop, EventLoop.Source {
    private static final Logger LOG = LoggerFactory.getLogger(CudaLoop.class);

    /** How many records one cycle may have. */
    static final int MOST_RECORDS = 2048;

    // a kernel with all blocks keeps those for other peers from running: this many nearly fill the links to one of them
    private static final int SHARED_BLOCKS = 16;
    private static final long SHORTEST_PARK_NANOS = 20_000;
    private static final long LONGEST_PARK_NANOS = 1_000_000;
    private static final int PARTS_OF_WAIT = 8;
    // what takes so long may have failed; the driver is asked at most as often
    private static final long INQUIRY_NANOS = 1_000_000;

    private final EventLoop loop;
    private final Gpus gpus;
    private final MappingThread thread;
    private final ReleaseThread releases;
    private final SecretSource secrets;
    private final boolean copyEngines;
    private final Arena arena = Arena.ofShared();
    private final MemorySegment records = arena.allocate((long) MOST_RECORDS * CudaStream.REQUEST_BYTES, Long.BYTES);
    private final @Nullable StreamLane[] lanesOfRecords = new @Nullable StreamLane[MOST_RECORDS];
    private final long[] numbersOfRecords = new long[MOST_RECORDS];
    // of the records that store into words of the user's
    private final CompletionRuns.@Nullable Run[] runsOfRecords = new CompletionRuns.@Nullable Run[MOST_RECORDS];
    // copied on change, which a thread does that may block; an ordinal's may be null. Those that wait for events follow
    // the others
    private volatile @Nullable GpuStreams[] byOrdinal;
    private final List<CudaEndpoint> endpoints = new ArrayList<>();
    private final List<CudaEndpoint> owed = new ArrayList<>();
    private final Alarm alarm = new Alarm();
    private int count;
    private boolean isCurrent;
    private boolean isSource;
    // under the lock of this
    private boolean closed;
    private long inquiredAt;

    CudaLoop(
            EventLoop loop,
            Gpus gpus,
            MappingThread thread,
            ReleaseThread releases,
            SecretSource secrets,
            boolean copyEngines) {
        this.loop = loop;
        this.gpus = gpus;
        this.thread = thread;
        this.releases = releases;
        this.secrets = secrets;
        this.copyEngines = copyEngines;
        this.byOrdinal = new @Nullable GpuStreams[2 * gpus.count()];
    }

    /** Ends a park. */
    private static final class Alarm extends Deadline {
        @Override
        protected void expired() {
            // the sources are polled in the same cycle
        }
    }

    @Override
    public Endpoint endpoint(EndpointContext context) {
        CudaEndpoint made = new CudaEndpoint(context, this, gpus, thread, releases, secrets);
        endpoints.add(made);
        return made;
    }

    void left(CudaEndpoint endpoint) {
        endpoints.remove(endpoint);
        owed.remove(endpoint);
    }

    boolean usesKernels() {
        return !copyEngines;
    }

    /**
     * Makes the streams of a GPU, unless there are some. Those that wait for events too: for the first event the driver might wait, as it
     * pins no memory while a kernel runs. Blocks: not on the loop's thread.
     *
     * @throws CudaException if there can be none, or they have failed
     */
    void openStreams(int ordinal) {
        open(ordinal, ordinal, GpuStreams.COUNT);
        open(gpus.count() + ordinal, ordinal, GpuStreams.ORDERED);
    }

    private synchronized void open(int index, int ordinal, int lanes) {
        if (closed) {
            throw new CudaException("the engine is closing", CudaException.DEINITIALIZED);
        }
        @Nullable GpuStreams[] now = byOrdinal;
        GpuStreams before = now[index];
        if (before == null) {
            @Nullable GpuStreams[] more = Arrays.copyOf(now, now.length);
            more[index] = GpuStreams.open(gpus.open(ordinal), lanes);
            byOrdinal = more;
        } else if (before.hasFailed()) {
            throw new CudaException(
                    before.gpu().id() + " has failed before; start the process again", before.failure());
        }
    }

    /** The streams of a GPU that memory is mapped for. */
    GpuStreams streams(int ordinal) {
        GpuStreams made = byOrdinal[ordinal];
        if (made == null) {
            throw new IllegalStateException("no memory is mapped for GPU " + ordinal % gpus.count());
        }
        if (!isCurrent) {
            // calls to the driver are faster with a context that stays
            CudaDevice.makeCurrent(made.gpu().device());
            isCurrent = true;
        }
        return made;
    }

    /** The streams of a GPU that wait for events, where memory is mapped for it. */
    GpuStreams ordered(int ordinal) {
        return streams(gpus.count() + ordinal);
    }

    /** The streams of a GPU that a lane is one of. */
    GpuStreams streamsOf(StreamLane lane, int ordinal) {
        GpuStreams ordered = ordered(ordinal);
        return ordered.has(lane) ? ordered : streams(ordinal);
    }

    /** The endpoint is told when there is room again. */
    void owe(CudaEndpoint endpoint) {
        if (!owed.contains(endpoint)) {
            owed.add(endpoint);
        }
    }

    // ---- records ----

    /** Begins a record, and gives where it is. Nothing changes those before it any more. */
    long record(StreamLane lane, int operation, long number) {
        if (count == MOST_RECORDS) {
            flush();
        }
        long at = (long) count * CudaStream.REQUEST_BYTES;
        numbersOfRecords[count] = number;
        runsOfRecords[count] = null;
        lanesOfRecords[count++] = lane;
        lane.recordMade();
        for (int i = 0; i < CudaStream.REQUEST_BYTES; i += Long.BYTES) {
            put(at, i, 0);
        }
        put(at, CudaStream.REQUEST_STREAM_OFFSET, lane.stream());
        // what is behind a wait that the driver has not taken does nothing but end
        int kept = lane.isStopped(number) ? CudaStream.COMPLETE : operation;
        records.set(ValueLayout.JAVA_INT, at + CudaStream.REQUEST_OPERATION_OFFSET, kept);
        put(at, CudaStream.REQUEST_VALUE_OFFSET, number);
        return at;
    }

    /** Adds a record that stores into the word of a run. */
    void completion(StreamLane lane, long number, CompletionRuns.Run run) {
        long at = record(lane, CudaStream.COMPLETE, number);
        runsOfRecords[count - 1] = run;
        // what was flushed for its sake may have been refused
        put(at, CudaStream.REQUEST_WORD_OFFSET, run.hasFailed() || lane.isRefused(number) ? 0 : run.address());
        put(at, CudaStream.REQUEST_VALUE_OFFSET, run.value());
    }

    void put(long record, int offset, long value) {
        records.set(ValueLayout.JAVA_LONG, record + offset, value);
    }

    /** A record copies so many pages by a kernel. */
    void pages(long record, int pages, boolean sharesGpu) {
        records.set(ValueLayout.JAVA_INT, record + CudaStream.REQUEST_COUNT_OFFSET, pages);
        if (sharesGpu) {
            records.set(ValueLayout.JAVA_INT, record + CudaStream.REQUEST_MOST_BLOCKS_OFFSET, SHARED_BLOCKS);
        }
    }

    @Override
    public int flush() {
        int all = count;
        if (all == 0) {
            return 0;
        }
        int submitted = 0;
        while (submitted < all) {
            int taken =
                    CudaStream.submit(records.address() + (long) submitted * CudaStream.REQUEST_BYTES, all - submitted);
            if (taken > 0) {
                submitted += taken;
            } else {
                refused(submitted++, taken);
            }
        }
        count = 0;
        if (!isSource) {
            isSource = true;
            inquiredAt = loop.now();
            loop.addSource(this);
        }
        return all;
    }

    /**
     * The others of the same number go on, but for those behind a wait: only their word says that the GPU has done with the memory.
     * Neither the word of the run is stored, nor the signal that follows the bytes.
     */
    private void refused(int record, int error) {
        StreamLane lane = lanesOfRecords[record];
        if (lane == null) {
            return;
        }
        LOG.warn("a GPU does not take a request: {}", CudaLibrary.errorText(error));
        long at = (long) record * CudaStream.REQUEST_BYTES;
        long number = numbersOfRecords[record];
        lane.refused(number, CompletionStatus.LOCAL_MEMORY_FAULT);
        if (records.get(ValueLayout.JAVA_INT, at + CudaStream.REQUEST_OPERATION_OFFSET) == CudaStream.WAIT_EVENT) {
            lane.stop(number);
        }
        empty(record);
        for (int i = record + 1; i < count; i++) {
            CompletionRuns.Run run = runsOfRecords[i];
            boolean isSame = lane.equals(lanesOfRecords[i]) && numbersOfRecords[i] == number;
            // its own request is not yet the lane's if that is still being made
            if (run != null && (isSame || run.hasFailed())) {
                put((long) i * CudaStream.REQUEST_BYTES, CudaStream.REQUEST_WORD_OFFSET, 0);
            }
            if (isSame) {
                put((long) i * CudaStream.REQUEST_BYTES, CudaStream.REQUEST_SIGNAL_OFFSET, 0);
            }
            if (isSame && lane.isStopped(number)) {
                empty(i);
            }
        }
        if (runsOfRecords[record] != null
                || records.get(ValueLayout.JAVA_LONG, at + CudaStream.REQUEST_WORD_OFFSET) == 0) {
            return;
        }
        int end = CudaStream.submit(records.address() + at, 1);
        if (end < 1) {
            failed(lane, end);
        }
    }

    /** A record does nothing any more but store its word. */
    private void empty(int record) {
        long at = (long) record * CudaStream.REQUEST_BYTES;
        records.set(ValueLayout.JAVA_INT, at + CudaStream.REQUEST_OPERATION_OFFSET, CudaStream.COMPLETE);
        put(at, CudaStream.REQUEST_SIGNAL_OFFSET, 0);
    }

    // ---- completions ----

    @Override
    public int poll() {
        int done = 0;
        boolean busy = false;
        long now = loop.now();
        for (GpuStreams streams : byOrdinal) {
            for (StreamLane lane : GpuStreams.lanes(streams)) {
                done += lane.reap(now);
                busy |= lane.isBusy();
            }
        }
        if (busy) {
            inquire();
        } else if (count == 0) {
            isSource = false;
            loop.removeSource(this);
        }
        if (done > 0) {
            for (int i = endpoints.size() - 1; i >= 0; i--) {
                endpoints.get(i).tellChanged();
            }
            for (int left = owed.size(); left > 0; left--) {
                owed.removeFirst().resume();
            }
        }
        return done;
    }

    /**
     * How long what was posted first has taken until now, in nanoseconds; 0 if nothing is under way. Of streams that wait for events only
     * the endpoint's own work counts, also behind that of others.
     */
    long waited(long now, CudaEndpoint endpoint) {
        long longest = 0;
        @Nullable GpuStreams[] all = byOrdinal;
        for (int i = 0; i < all.length; i++) {
            for (StreamLane lane : GpuStreams.lanes(all[i])) {
                if (lane.isBusy()) {
                    longest = Math.max(longest, i < gpus.count() ? now - lane.oldest() : lane.waited(now, endpoint));
                }
            }
        }
        return longest;
    }

    /** Asks the driver whether what takes long has failed, and lets what waits for a lane look at its event. */
    private void inquire() {
        long now = loop.now();
        if (now - inquiredAt < INQUIRY_NANOS) {
            return;
        }
        inquiredAt = now;
        for (GpuStreams streams : byOrdinal) {
            for (StreamLane lane : GpuStreams.lanes(streams)) {
                int state = lane.isBusy() && now - lane.oldest() >= INQUIRY_NANOS ? lane.query() : CudaStream.NOT_READY;
                if (state == CudaStream.NOT_READY) {
                    continue;
                }
                if (lane.isBroken()) {
                    lane.abandon();
                } else if (state < 0 && !lane.hasDone()) {
                    failed(lane, state);
                }
            }
        }
        for (int i = endpoints.size() - 1; i >= 0; i--) {
            endpoints.get(i).postHappened();
        }
    }

    /** The GPU of a lane has failed, for good: the connections end, and what it was given once it touches nothing any more. */
    private void failed(StreamLane failing, int error) {
        for (GpuStreams streams : byOrdinal) {
            if (streams == null || !streams.has(failing)) {
                continue;
            }
            streams.fail(error);
            CudaException why = new CudaException(streams.gpu().id() + " has failed", error);
            for (CudaEndpoint endpoint : List.copyOf(endpoints)) {
                endpoint.fail(why);
            }
        }
    }

    @Override
    public boolean arm() {
        if (count > 0) {
            return false;
        }
        // a lane that waits for an event does not make others wait for the poller
        long newest = Long.MIN_VALUE;
        for (GpuStreams streams : byOrdinal) {
            for (StreamLane lane : GpuStreams.lanes(streams)) {
                if (lane.hasDone()) {
                    return false;
                }
                if (lane.isBusy()) {
                    newest = Math.max(newest, lane.oldest());
                }
            }
        }
        if (newest != Long.MIN_VALUE) {
            long now = System.nanoTime();
            loop.arm(alarm, now + Math.clamp((now - newest) / PARTS_OF_WAIT, SHORTEST_PARK_NANOS, LONGEST_PARK_NANOS));
        }
        return true;
    }

    @Override
    public void close() {
        loop.disarm(alarm);
        if (isSource) {
            loop.removeSource(this);
        }
        synchronized (this) {
            closed = true;
        }
        for (GpuStreams streams : byOrdinal) {
            if (streams != null) {
                releases.execute(streams::close);
            }
        }
        arena.close();
    }
}
