package io.sluice.engine.transport.verbs;

import io.sluice.jni.VerbsDevice;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * The limits of a device.
 *
 * @param sendDepth the most work requests of a queue pair
 * @param gatherElements the most local gather entries of a write or read, at least 1
 * @param completionQueueEntries the most entries of a completion queue
 * @param receiveQueueDepth the most receives of a shared receive queue; 0 if it has none
 * @param readDepthAsInitiator the most reads and atomic operations that a queue pair has in flight
 * @param readDepthAsTarget the most that it answers at a time
 * @param regionBytes the largest region
 * @param atomics whether it executes atomic operations
 * @param onDemandPaging whether regions can be registered without locking their pages
 * @param ports the number of ports
 */
record DeviceLimits(
        int sendDepth,
        int gatherElements,
        int completionQueueEntries,
        int receiveQueueDepth,
        int readDepthAsInitiator,
        int readDepthAsTarget,
        long regionBytes,
        boolean atomics,
        boolean onDemandPaging,
        int ports) {
    private static final int ON_DEMAND = VerbsDevice.ON_DEMAND_WRITE | VerbsDevice.ON_DEMAND_READ;

    /** Queries an open device. */
    static DeviceLimits query(long device, String name) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment record = arena.allocate(VerbsDevice.DEVICE_BYTES, Long.BYTES);
            Native.available(VerbsDevice.query(device, record.address()), name, "report its limits");
            return new DeviceLimits(
                    Native.intAt(record, VerbsDevice.DEVICE_MAX_QUEUE_PAIR_WORK_REQUESTS_OFFSET),
                    Math.max(
                            1,
                            Math.min(
                                    Native.intAt(record, VerbsDevice.DEVICE_MAX_SGE_OFFSET),
                                    Native.intAt(record, VerbsDevice.DEVICE_MAX_SGE_OF_READS_OFFSET))),
                    Native.intAt(record, VerbsDevice.DEVICE_MAX_COMPLETION_QUEUE_ENTRIES_OFFSET),
                    Native.intAt(record, VerbsDevice.DEVICE_MAX_SHARED_RECEIVE_QUEUES_OFFSET) == 0
                            ? 0
                            : Native.intAt(record, VerbsDevice.DEVICE_MAX_SHARED_RECEIVE_QUEUE_WORK_REQUESTS_OFFSET),
                    Native.intAt(record, VerbsDevice.DEVICE_MAX_READ_DEPTH_AS_INITIATOR_OFFSET),
                    Native.intAt(record, VerbsDevice.DEVICE_MAX_READ_DEPTH_AS_TARGET_OFFSET),
                    Native.longAt(record, VerbsDevice.DEVICE_MAX_REGION_BYTES_OFFSET),
                    Native.intAt(record, VerbsDevice.DEVICE_ATOMICS_OFFSET) != VerbsDevice.ATOMICS_NONE,
                    (Native.intAt(record, VerbsDevice.DEVICE_ON_DEMAND_PAGING_OFFSET) & ON_DEMAND) == ON_DEMAND,
                    Native.intAt(record, VerbsDevice.DEVICE_PORTS_OFFSET));
        }
    }
}
