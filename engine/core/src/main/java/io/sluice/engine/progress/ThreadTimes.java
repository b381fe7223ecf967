package io.sluice.engine.progress;

import io.sluice.jni.ThreadSchedule;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** The kernel's times of a poller's thread. On that thread alone. */
interface ThreadTimes {
    /** Reads the counts; returns false if the kernel does not report them. */
    boolean read();

    /** Returns how long the thread has run on a processor until the last reading, in nanoseconds. */
    long ranNanos();

    /** Returns how long the thread could have run but had no processor, in nanoseconds. */
    long withoutProcessorNanos();

    /** The kernel's times of the calling thread. */
    static ThreadTimes ofKernel(Arena arena) {
        MemorySegment record = arena.allocate(ThreadSchedule.RECORD_BYTES, Long.BYTES);
        return new ThreadTimes() {
            @Override
            public boolean read() {
                return ThreadSchedule.read(record.address()) == 0;
            }

            @Override
            public long ranNanos() {
                return record.get(ValueLayout.JAVA_LONG, ThreadSchedule.RECORD_RAN_OFFSET);
            }

            @Override
            public long withoutProcessorNanos() {
                return record.get(ValueLayout.JAVA_LONG, ThreadSchedule.RECORD_WAITED_OFFSET);
            }
        };
    }
}
