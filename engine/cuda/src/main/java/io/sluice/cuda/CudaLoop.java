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
 * What one poller has of GPUs: streams, and the records that its connections have made in this cycle, which go to the driver together.
 * While a GPU has work of it the poller looks at words in pinned memory; nothing wakes it for one, so that it parks for a part of the
 * time that the oldest has taken by then. Without work there is nothing to look at.
 */
final class CudaLoop implements TransportLoop, EventLoop.Source {
    private static final Logger LOG = LoggerFactory.getLogger(CudaLoop.class);

    /** How many records one cycle may have. */
    static final int MOST_RECORDS = 2048;

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
    // copied on change, which a thread does that may block; an ordinal's may be null
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
        this.byOrdinal = new @Nullable GpuStreams[gpus.count()];
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
     * Makes the streams of a GPU, unless there are some. Blocks: not on the loop's thread.
     *
     * @throws CudaException if there can be none, or they have failed
     */
    synchronized void openStreams(int ordinal) {
        if (closed) {
            throw new CudaException("the engine is closing", CudaException.DEINITIALIZED);
        }
        @Nullable GpuStreams[] now = byOrdinal;
        GpuStreams before = now[ordinal];
        if (before == null) {
            @Nullable GpuStreams[] more = Arrays.copyOf(now, now.length);
            more[ordinal] = GpuStreams.open(gpus.open(ordinal));
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
            throw new IllegalStateException("no memory is mapped for GPU " + ordinal);
        }
        if (!isCurrent) {
            // calls to the driver are faster with a context that stays
            CudaDevice.makeCurrent(made.gpu().device());
            isCurrent = true;
        }
        return made;
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
        lanesOfRecords[count++] = lane;
        lane.recordMade();
        for (int i = 0; i < CudaStream.REQUEST_BYTES; i += Long.BYTES) {
            put(at, i, 0);
        }
        put(at, CudaStream.REQUEST_STREAM_OFFSET, lane.stream());
        records.set(ValueLayout.JAVA_INT, at + CudaStream.REQUEST_OPERATION_OFFSET, operation);
        put(at, CudaStream.REQUEST_VALUE_OFFSET, number);
        return at;
    }

    void put(long record, int offset, long value) {
        records.set(ValueLayout.JAVA_LONG, record + offset, value);
    }

    void pages(long record, int pages) {
        records.set(ValueLayout.JAVA_INT, record + CudaStream.REQUEST_COUNT_OFFSET, pages);
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

    /** The others of the same number go on: only their word says that the GPU has done with the memory. */
    private void refused(int record, int error) {
        StreamLane lane = lanesOfRecords[record];
        if (lane == null) {
            return;
        }
        LOG.warn("a GPU does not take a request: {}", CudaLibrary.errorText(error));
        long at = (long) record * CudaStream.REQUEST_BYTES;
        lane.refused(
                records.get(ValueLayout.JAVA_LONG, at + CudaStream.REQUEST_VALUE_OFFSET),
                CompletionStatus.LOCAL_MEMORY_FAULT);
        if (records.get(ValueLayout.JAVA_LONG, at + CudaStream.REQUEST_WORD_OFFSET) == 0) {
            return;
        }
        records.set(ValueLayout.JAVA_INT, at + CudaStream.REQUEST_OPERATION_OFFSET, CudaStream.COMPLETE);
        put(at, CudaStream.REQUEST_SIGNAL_OFFSET, 0);
        int end = CudaStream.submit(records.address() + at, 1);
        if (end < 1) {
            failed(lane, end);
        }
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

    private long oldest() {
        long oldest = Long.MAX_VALUE;
        for (GpuStreams streams : byOrdinal) {
            for (StreamLane lane : GpuStreams.lanes(streams)) {
                if (lane.isBusy()) {
                    oldest = Math.min(oldest, lane.oldest());
                }
            }
        }
        return oldest;
    }

    /** How long what was posted first has taken until now, in nanoseconds; 0 if nothing is under way. */
    long waited(long now) {
        long oldest = oldest();
        return oldest == Long.MAX_VALUE ? 0 : now - oldest;
    }

    /** Asks the driver whether what takes long has failed. */
    private void inquire() {
        long now = loop.now();
        if (now - inquiredAt < INQUIRY_NANOS || waited(now) < INQUIRY_NANOS) {
            return;
        }
        inquiredAt = now;
        for (GpuStreams streams : byOrdinal) {
            for (StreamLane lane : GpuStreams.lanes(streams)) {
                int state = lane.isBusy() ? lane.query() : CudaStream.NOT_READY;
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
        long oldest = Long.MAX_VALUE;
        for (GpuStreams streams : byOrdinal) {
            for (StreamLane lane : GpuStreams.lanes(streams)) {
                if (lane.hasDone()) {
                    return false;
                }
                if (lane.isBusy()) {
                    oldest = Math.min(oldest, lane.oldest());
                }
            }
        }
        if (oldest != Long.MAX_VALUE) {
            long now = System.nanoTime();
            loop.arm(alarm, now + Math.clamp((now - oldest) / PARTS_OF_WAIT, SHORTEST_PARK_NANOS, LONGEST_PARK_NANOS));
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
