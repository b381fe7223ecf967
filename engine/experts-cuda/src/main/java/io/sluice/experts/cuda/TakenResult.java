package io.sluice.experts.cuda;

import io.sluice.engine.MemoryRegion;
import io.sluice.experts.DispatchFormat;
import io.sluice.experts.LowLatencyResult;
import java.util.Optional;

/** A result's memory as long as one dispatch has it. */
final class TakenResult implements LowLatencyResult {
    private final BufferCore core;
    private final LowLatencyResultMemory memory;
    private final long generation;
    private final DispatchFormat format;
    private final int tokens;

    /**
     * Makes one.
     *
     * @param core of the buffer, whose error its numbers have
     * @param generation with which it was taken
     * @param tokens that this rank sends
     */
    TakenResult(BufferCore core, LowLatencyResultMemory memory, long generation, DispatchFormat format, int tokens) {
        this.core = core;
        this.memory = memory;
        this.generation = generation;
        this.format = format;
        this.tokens = tokens;
    }

    LowLatencyResultMemory memory() {
        return memory;
    }

    long generation() {
        return generation;
    }

    int tokensSent() {
        return tokens;
    }

    void ensureLive() {
        if (!memory.state().isLive(generation)) {
            throw new IllegalStateException("the result is closed");
        }
    }

    @Override
    public DispatchFormat format() {
        return format;
    }

    @Override
    public MemoryRegion tokens() {
        return memory.tokens(format);
    }

    @Override
    public Optional<MemoryRegion> scales() {
        return memory.scales(format);
    }

    @Override
    public MemoryRegion counts() {
        return memory.counts();
    }

    @Override
    public MemoryRegion sources() {
        return memory.sources();
    }

    @Override
    public MemoryRegion ranges() {
        return memory.ranges();
    }

    /** As the GPU has stored it, in the host's memory. */
    @Override
    public int count(int localExpert) {
        // a dispatch that has failed stores none: those of an earlier one are there
        core.ensureUsable();
        return memory.count(localExpert);
    }

    @Override
    public MemoryRegion combineBuffer() {
        ensureLive();
        return memory.combineBuffer();
    }

    @Override
    public void close() {
        memory.state().close(generation);
    }
}
