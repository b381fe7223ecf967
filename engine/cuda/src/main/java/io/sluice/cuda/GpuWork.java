package io.sluice.cuda;

import io.sluice.jni.CudaStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.ref.Reference;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * Launches of kernels that a {@link GpuStream} is given together, one after the other: prepared once, and submitted again and again
 * without an allocation, in one call of native code. The garbage collector frees it. One thread at a time.
 */
public final class GpuWork {
    /** The most launches that one may have, and that may be under way in a stream. */
    public static final int MOST_LAUNCHES = 256;

    /** How many works may be {@linkplain #submitUnnumbered submitted} before the stream stores a number. */
    public static final int MOST_UNNUMBERED = 32;

    private final StreamSequence stream;
    private final MemorySegment records;
    private final int count;
    private final List<StreamUses> used;
    private final List<StreamUses> modules;
    // kept, as the records have their addresses
    @SuppressWarnings("unused")
    private final List<KernelArguments> arguments;

    private GpuWork(Builder builder) {
        stream = builder.stream;
        count = builder.launches.size();
        records = Arena.ofAuto().allocate((long) count * CudaStream.REQUEST_BYTES, Long.BYTES);
        used = List.copyOf(builder.used);
        modules = builder.launches.stream()
                .map(launch -> launch.kernel().uses())
                .distinct()
                .toList();
        arguments = builder.launches.stream().map(Launch::arguments).toList();
        for (int i = 0; i < count; i++) {
            put(builder.launches.get(i), (long) i * CudaStream.REQUEST_BYTES);
        }
        used.forEach(each -> each.usedOn(stream));
    }

    private record Launch(GpuKernel kernel, LaunchShape shape, KernelArguments arguments) {}

    private void put(Launch launch, long at) {
        LaunchShape shape = launch.shape();
        stream.prepare(records, at, CudaStream.LAUNCH);
        records.set(ValueLayout.JAVA_INT, at + CudaStream.REQUEST_COUNT_OFFSET, shape.gridX());
        put(at, CudaStream.REQUEST_SOURCES_OFFSET, shape.gridY() | (long) shape.gridZ() << Integer.SIZE);
        put(
                at,
                CudaStream.REQUEST_LENGTH_OFFSET,
                shape.blockX() | (long) shape.blockY() << Short.SIZE | (long) shape.blockZ() << Integer.SIZE);
        put(at, CudaStream.REQUEST_DESTINATION_OFFSET, shape.sharedBytes());
        put(at, CudaStream.REQUEST_SOURCE_OFFSET, launch.kernel().function());
        put(at, CudaStream.REQUEST_DESTINATIONS_OFFSET, launch.arguments().address());
    }

    private void put(long at, int offset, long value) {
        records.set(ValueLayout.JAVA_LONG, at + offset, value);
    }

    /** Collects launches. Not for several threads at once. */
    public static final class Builder {
        private final StreamSequence stream;
        private final List<Launch> launches = new ArrayList<>();
        private final Set<StreamUses> used = new LinkedHashSet<>();

        Builder(StreamSequence stream) {
            this.stream = stream;
        }

        /**
         * Adds a launch behind those before it. Each address among the arguments is of memory that {@code uses} names, or that the
         * caller keeps until the launch is done.
         *
         * @param kernel of a module on the stream's GPU
         * @param shape its threads
         * @param arguments of the kernel's parameters; what they hold when the work is submitted counts
         * @return this
         * @throws IllegalArgumentException if the kernel is of another GPU; if there are {@link #MOST_LAUNCHES} already; or if the
         *     arguments are not of the kernel's parameters, which drivers before CUDA 12.4 do not tell: there the caller makes sure
         * @throws GpuClosedException if the module is closed
         * @throws CudaException if a kernel cannot have so much shared memory
         */
        public Builder launch(GpuKernel kernel, LaunchShape shape, KernelArguments arguments) {
            if (!kernel.device().equals(stream.gpu())) {
                throw new IllegalArgumentException(kernel + " is not launched on " + stream.gpu());
            }
            if (launches.size() == MOST_LAUNCHES) {
                throw new IllegalArgumentException("work has at most " + MOST_LAUNCHES + " launches");
            }
            kernel.check(arguments);
            kernel.uses().ensureOpen();
            kernel.allow(shape.sharedBytes());
            launches.add(new Launch(kernel, shape, arguments));
            used.add(kernel.uses());
            return this;
        }

        /**
         * Says that a kernel reads or writes a buffer: once that is closed the work is refused, and the buffer is given back only
         * when the work that was submitted is done.
         *
         * @param buffer the buffer
         * @return this
         */
        public Builder uses(PinnedBuffer buffer) {
            used.add(buffer.uses());
            return this;
        }

        /**
         * Says that a kernel reads or writes a region: once that is closed the work is refused, and the region's memory stays until
         * the work that was submitted is done.
         *
         * @param region mapped for the stream's GPU
         * @return this
         * @throws IllegalArgumentException if it is mapped for another GPU
         */
        public Builder uses(MappedRegion region) {
            if (!region.device().equals(stream.gpu())) {
                throw new IllegalArgumentException(region + " is not mapped for " + stream.gpu());
            }
            used.add(region.uses());
            return this;
        }

        /**
         * Makes the work.
         *
         * @return what can be submitted
         * @throws IllegalStateException if it has no launch
         * @throws GpuClosedException if the stream is closed
         */
        public GpuWork build() {
            if (launches.isEmpty()) {
                throw new IllegalStateException("work has at least one launch");
            }
            stream.life().use();
            try {
                return new GpuWork(this);
            } finally {
                stream.life().release();
            }
        }
    }

    /**
     * Gives the launches to the stream. Allocates nothing and does not wait for the GPU, so that a poller may call it. Work of one
     * stream is submitted by one thread at a time.
     *
     * @return the number of the work in its stream: 1 for the first that the stream was given, and 1 more for each further one;
     *     {@link GpuStream#onReached} waits for it
     * @throws GpuClosedException if the stream, or something that the work uses, is closed. Nothing was launched
     * @throws io.sluice.engine.TooManyPendingException if more than {@link #MOST_LAUNCHES} launches would be under way in the
     *     stream. Nothing was launched
     * @throws CudaException if the driver refuses a launch, as after an error that stays with the process; those before it are carried
     *     out, and {@link GpuStream#submitted} is the number. The message says which it was
     * @throws IllegalStateException if two threads submit work of one stream at the same time, or the stream is being captured into a
     *     graph of the caller's, whose replays would store old numbers. Nothing was launched
     */
    public long submit() {
        return submit(true);
    }

    /**
     * Gives the launches to the stream as {@link #submit} does, but has the stream store no number behind them, which takes a GPU
     * about as long as a short kernel. Their number counts as reached with the next that is stored: by the next {@link #submit}, or of
     * every {@link #MOST_UNNUMBERED}th work that is submitted like this.
     *
     * @return the number of the work in its stream
     * @throws GpuClosedException as for {@link #submit}
     * @throws io.sluice.engine.TooManyPendingException as for {@link #submit}
     * @throws CudaException as for {@link #submit}
     * @throws IllegalStateException as for {@link #submit}
     */
    public long submitUnnumbered() {
        return submit(false);
    }

    private long submit(boolean isNumbered) {
        try {
            return stream.submit(records, count, count, isNumbered, used);
        } finally {
            // the driver reads the records and the arguments
            Reference.reachabilityFence(this);
        }
    }

    StreamSequence stream() {
        return stream;
    }

    /** What has to be open for a submission. */
    List<StreamUses> used() {
        return used;
    }

    /** The modules of its kernels. */
    List<StreamUses> modules() {
        return modules;
    }

    /** Its launches, a record each, as long as this is reachable. */
    MemorySegment records() {
        return records;
    }
}
