package io.sluice.cuda;

import io.sluice.engine.DeviceMetrics;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.ToLongFunction;

/** The figures of one GPU, added up on each read. */
final class GpuMetrics implements DeviceMetrics {
    private final String id;
    private final List<WorkCounters> byLoop = new CopyOnWriteArrayList<>();
    private final AtomicLong allocated = new AtomicLong();
    private final AtomicLong pinned = new AtomicLong();

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
        return sum(counters -> counters.launches(unit));
    }

    @Override
    public long bytes(Unit unit) {
        return sum(counters -> counters.bytes(unit));
    }

    @Override
    public long requests() {
        return sum(WorkCounters::requests);
    }

    @Override
    public long requestNanos() {
        return sum(WorkCounters::nanos);
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
