package io.sluice.cuda;

import io.sluice.engine.DeviceMetrics;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.ToLongFunction;

/** The figures of one GPU, added up on each read. */
final class GpuMetrics implements DeviceMetrics {
    private final String id;
    private final List<WorkCounters> byLoop = new CopyOnWriteArrayList<>();
    private final AtomicLong allocated = new AtomicLong();
    private final AtomicLong pinned = new AtomicLong();
    // of all rings, which come and go with connections
    private final LongAdder stagedCopies = new LongAdder();
    private final LongAdder stagedBytes = new LongAdder();
    private final LongAdder stagedDone = new LongAdder();
    private final LongAdder stagedNanos = new LongAdder();

    GpuMetrics(String id) {
        this.id = id;
    }

    /** The counters of one more loop. */
    WorkCounters newCounters() {
        WorkCounters counters = new WorkCounters();
        byLoop.add(counters);
        return counters;
    }

    /** Memory of the GPU was allocated, or freed if that is less than 0. */
    void allocated(long bytes) {
        allocated.addAndGet(bytes);
    }

    /** The same of pinned memory of the host. */
    void pinned(long bytes) {
        pinned.addAndGet(bytes);
    }

    /** A piece of a ring was given to the GPU. */
    void staged(long bytes) {
        stagedCopies.increment();
        stagedBytes.add(bytes);
    }

    /** The GPU is done with such a piece. */
    void stagedDone(long nanos) {
        stagedDone.increment();
        stagedNanos.add(nanos);
    }

    private long sum(ToLongFunction<WorkCounters> figure) {
        long sum = 0;
        for (WorkCounters counters : byLoop) {
            sum += figure.applyAsLong(counters);
        }
        return sum;
    }

    @Override
    public String device() {
        return id;
    }

    @Override
    public long launches(Unit unit) {
        return unit == Unit.STAGED ? stagedCopies.sum() : sum(counters -> counters.launches(unit));
    }

    @Override
    public long bytes(Unit unit) {
        return unit == Unit.STAGED ? stagedBytes.sum() : sum(counters -> counters.bytes(unit));
    }

    @Override
    public long requests() {
        return stagedDone.sum() + sum(WorkCounters::requests);
    }

    @Override
    public long requestNanos() {
        return stagedNanos.sum() + sum(WorkCounters::nanos);
    }

    @Override
    public long allocatedBytes() {
        return allocated.get();
    }

    @Override
    public long pinnedBytes() {
        return pinned.get();
    }

    @Override
    public String toString() {
        return "GpuMetrics[" + id + "]";
    }
}
