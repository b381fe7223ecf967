package io.sluice.cuda;

import io.sluice.engine.transport.CompletionStatus;
import io.sluice.engine.transport.Deadline;
import io.sluice.engine.transport.Endpoint;
import io.sluice.engine.transport.EndpointContext;
import io.sluice.engine.transport.EventLoop;
import io.sluice.engine.transport.TransportLoop;
import io.sluice.jni.CudaStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What one poller has of GPUs: streams, and the records that its connections have made in this cycle, which go to the driver together.
 * While a GPU has work of it the poller looks at words in pinned memory; nothing wakes it for one, so that it parks for a part of the
 * time that the oldest has taken by then. Without work there is nothing to look at.
 */
final class CudaLoop implements TransportLoop, EventLoop.Source {
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
    private final SecretSource secrets;
    private final boolean copyEngines;
    private final Arena arena = Arena.ofShared();
    private final MemorySegment records = arena.allocate((long) MOST_RECORDS * CudaStream.REQUEST_BYTES, Long.BYTES);
    private final @Nullable StreamLane[] lanesOfRecords = new @Nullable StreamLane[MOST_RECORDS];
    private final @Nullable GpuStreams[] byOrdinal;
    private final List<GpuStreams> opened = new ArrayList<>();
    private final List<CudaEndpoint> endpoints = new ArrayList<>();
    private final List<CudaEndpoint> owed = new ArrayList<>();
    private final Alarm alarm = new Alarm();
    private int count;
    private boolean isSource;
    private long inquiredAt;

    CudaLoop(EventLoop loop, Gpus gpus, MappingThread thread, SecretSource secrets, boolean copyEngines) {
        this.loop = loop;
        this.gpus = gpus;
        this.thread = thread;
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
        CudaEndpoint made = new CudaEndpoint(context, this, gpus, thread, secrets);
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

    /** The streams of a GPU. */
    GpuStreams streams(int ordinal) {
        GpuStreams made = byOrdinal[ordinal];
        if (made == null) {
            made = GpuStreams.open(gpus.open(ordinal));
            byOrdinal[ordinal] = made;
            opened.add(made);
        }
        return made;
    }

    /** The endpoint is told when there is room again. */
    void owe(CudaEndpoint endpoint) {
        if (!owed.contains(endpoint)) {
            owed.add(endpoint);
        }
    }

    int room() {
        return MOST_RECORDS - count;
    }

    // ---- records ----

    /** Begins a record, and gives where it is. There is room. */
    long record(StreamLane lane, int operation, long number) {
        long at = (long) count * CudaStream.REQUEST_BYTES;
        lanesOfRecords[count++] = lane;
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
            int taken = CudaStream.submit(
                    records.address() + (long) submitted * CudaStream.REQUEST_BYTES, all - submitted);
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

    private void refused(int record, int error) {
        StreamLane lane = lanesOfRecords[record];
        if (lane == null) {
            return;
        }
        long number = records.get(
                ValueLayout.JAVA_LONG, (long) record * CudaStream.REQUEST_BYTES + CudaStream.REQUEST_VALUE_OFFSET);
        CudaEndpoint.refused(error);
        lane.refused(number, CompletionStatus.LOCAL_MEMORY_FAULT);
    }

    // ---- completions ----

    @Override
    public int poll() {
        int done = 0;
        boolean busy = false;
        for (int i = 0; i < opened.size(); i++) {
            for (StreamLane lane : opened.get(i).lanes()) {
                done += lane.reap();
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
        for (int i = 0; i < opened.size(); i++) {
            for (StreamLane lane : opened.get(i).lanes()) {
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
        for (int i = 0; i < opened.size(); i++) {
            for (StreamLane lane : opened.get(i).lanes()) {
                int state = lane.isBusy() ? lane.query() : 0;
                if (state < 0 && state != CudaStream.NOT_READY && !lane.hasDone()) {
                    failed(opened.get(i), state);
                    return;
                }
            }
        }
    }

    /** A GPU has failed, for good: the connections over it end, and it touches nothing any more. */
    private void failed(GpuStreams streams, int error) {
        CudaException why = new CudaException(streams.gpu().id() + " has failed", error);
        for (CudaEndpoint endpoint : List.copyOf(endpoints)) {
            endpoint.fail(why);
        }
        for (StreamLane lane : streams.lanes()) {
            lane.abandon();
        }
    }

    @Override
    public boolean arm() {
        if (count > 0) {
            return false;
        }
        long oldest = Long.MAX_VALUE;
        for (int i = 0; i < opened.size(); i++) {
            for (StreamLane lane : opened.get(i).lanes()) {
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
            loop.arm(
                    alarm, now + Math.clamp((now - oldest) / PARTS_OF_WAIT, SHORTEST_PARK_NANOS, LONGEST_PARK_NANOS));
        }
        return true;
    }

    @Override
    public void close() {
        loop.disarm(alarm);
        if (isSource) {
            loop.removeSource(this);
        }
        opened.forEach(GpuStreams::close);
        arena.close();
    }
}
