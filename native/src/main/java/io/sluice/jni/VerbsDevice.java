package io.sluice.jni;

import static java.nio.charset.StandardCharsets.UTF_8;

/** RDMA devices, their ports, their asynchronous events, and the protection domains on them. See {@link VerbsLibrary}. */
public final class VerbsDevice {
    // The generated C header carries all these values, and the shim's compilation fails where libibverbs's differ.

    /** Size of the record of {@link #query} in bytes. */
    public static final int DEVICE_BYTES = 80;

    /** Offset of the {@code long} with the length of the largest memory region in bytes. */
    public static final int DEVICE_MAX_REGION_BYTES_OFFSET = 0;

    /** Offset of the {@code long} with the GUID of the node. */
    public static final int DEVICE_NODE_GUID_OFFSET = 8;

    /** Offset of the {@code int} with the largest number of queue pairs. */
    public static final int DEVICE_MAX_QUEUE_PAIRS_OFFSET = 16;

    /** Offset of the {@code int} with the largest number of work requests that a queue of a queue pair can hold. */
    public static final int DEVICE_MAX_QUEUE_PAIR_WORK_REQUESTS_OFFSET = 20;

    /** Offset of the {@code int} with the largest number of pieces of memory in a work request. */
    public static final int DEVICE_MAX_SGE_OFFSET = 24;

    /** Offset of the {@code int} with the largest number of completion queues. */
    public static final int DEVICE_MAX_COMPLETION_QUEUES_OFFSET = 28;

    /** Offset of the {@code int} with the largest number of entries of a completion queue. */
    public static final int DEVICE_MAX_COMPLETION_QUEUE_ENTRIES_OFFSET = 32;

    /** Offset of the {@code int} with the largest number of memory regions. */
    public static final int DEVICE_MAX_REGIONS_OFFSET = 36;

    /** Offset of the {@code int} with how many reads and atomics a queue pair can serve at once. */
    public static final int DEVICE_MAX_READ_DEPTH_AS_TARGET_OFFSET = 40;

    /** Offset of the {@code int} with how many reads and atomics a queue pair can have under way at once. */
    public static final int DEVICE_MAX_READ_DEPTH_AS_INITIATOR_OFFSET = 44;

    /** Offset of the {@code int} with the largest number of shared receive queues; 0 where there are none. */
    public static final int DEVICE_MAX_SHARED_RECEIVE_QUEUES_OFFSET = 48;

    /** Offset of the {@code int} with the largest number of work requests that a shared receive queue can hold. */
    public static final int DEVICE_MAX_SHARED_RECEIVE_QUEUE_WORK_REQUESTS_OFFSET = 52;

    /** Offset of the {@code int} with the number of ports; they are numbered from 1. */
    public static final int DEVICE_PORTS_OFFSET = 56;

    /** Offset of the {@code int} that says among whom atomics are atomic: one of {@code ATOMICS_…}. */
    public static final int DEVICE_ATOMICS_OFFSET = 60;

    /**
     * Offset of the {@code int} with what reliable connections can do in memory that is paged on demand: a union of
     * {@code ON_DEMAND_…}, or 0 where nothing is, or nothing is known about it.
     */
    public static final int DEVICE_ON_DEMAND_PAGING_OFFSET = 64;

    /** Offset of the {@code int} with the vendor's number. */
    public static final int DEVICE_VENDOR_ID_OFFSET = 68;

    /** Offset of the {@code int} with the vendor's number for the part. */
    public static final int DEVICE_VENDOR_PART_ID_OFFSET = 72;

    /** Offset of the {@code int} with the largest number of pieces of memory in a read. */
    public static final int DEVICE_MAX_SGE_OF_READS_OFFSET = 76;

    /** The device has no atomics. */
    public static final int ATOMICS_NONE = 0;

    /** Atomics are atomic among those of one adapter. */
    public static final int ATOMICS_WITHIN_ADAPTER = 1;

    /** Atomics are atomic among adapters and processors. */
    public static final int ATOMICS_GLOBAL = 2;

    /** A send may take its bytes from memory that is paged on demand. */
    public static final int ON_DEMAND_SEND = 1;

    /** A receive may put its bytes into memory that is paged on demand. */
    public static final int ON_DEMAND_RECEIVE = 1 << 1;

    /** A write may be from and into memory that is paged on demand. */
    public static final int ON_DEMAND_WRITE = 1 << 2;

    /** A read may be from and into memory that is paged on demand. */
    public static final int ON_DEMAND_READ = 1 << 3;

    /** An atomic may change memory that is paged on demand. */
    public static final int ON_DEMAND_ATOMIC = 1 << 4;

    /** A shared receive queue may hold memory that is paged on demand. */
    public static final int ON_DEMAND_SHARED_RECEIVE = 1 << 5;

    /** Size of the record of {@link #queryPort} in bytes. */
    public static final int PORT_BYTES = 48;

    /** Offset of the {@code long} with the length of the longest message in bytes. */
    public static final int PORT_MAX_MESSAGE_BYTES_OFFSET = 0;

    /** Offset of the {@code int} with the state: one of the {@code PORT_…} constants without {@code OFFSET}. */
    public static final int PORT_STATE_OFFSET = 8;

    /** Offset of the {@code int} with the MTU now in bytes: 256, 512, 1024, 2048 or 4096; 0 if it is none of these. */
    public static final int PORT_ACTIVE_MTU_BYTES_OFFSET = 12;

    /** Offset of the {@code int} with the largest MTU in bytes; 0 if it is none of the known ones. */
    public static final int PORT_MAX_MTU_BYTES_OFFSET = 16;

    /** Offset of the {@code int} with the local identifier, 0 to 65535; 0 on Ethernet. */
    public static final int PORT_LID_OFFSET = 20;

    /** Offset of the {@code int} with the link layer: {@link #LINK_INFINIBAND} or {@link #LINK_ETHERNET}. */
    public static final int PORT_LINK_LAYER_OFFSET = 24;

    /** Offset of the {@code int} with the number of entries of the GID table, empty ones among them. */
    public static final int PORT_GID_TABLE_LENGTH_OFFSET = 28;

    /** Offset of the {@code int} with the width of the link, as libibverbs encodes it. */
    public static final int PORT_ACTIVE_WIDTH_OFFSET = 32;

    /** Offset of the {@code int} with the speed of one lane of the link, as libibverbs encodes it. */
    public static final int PORT_ACTIVE_SPEED_OFFSET = 36;

    /** Offset of the {@code int} with the subnet manager's local identifier; 0 on Ethernet. */
    public static final int PORT_SUBNET_MANAGER_LID_OFFSET = 40;

    /** State of a port: the link is down. */
    public static final int PORT_DOWN = 1;

    /** State of a port: the link is up, and the subnet manager has not configured it. */
    public static final int PORT_INITIALISING = 2;

    /** State of a port: configured, but not for traffic yet. */
    public static final int PORT_ARMED = 3;

    /** State of a port: it can be used. */
    public static final int PORT_ACTIVE = 4;

    /** State of a port: it was active, and the link has failed for a moment. */
    public static final int PORT_ACTIVE_DEFER = 5;

    /** Link layer of a port: InfiniBand, or a driver that does not say. */
    public static final int LINK_INFINIBAND = 1;

    /** Link layer of a port: Ethernet (RoCE, iWARP). */
    public static final int LINK_ETHERNET = 2;

    /** Size of the record of {@link #queryGid} in bytes. */
    public static final int GID_BYTES = 20;

    /** Offset of the 16 bytes of the GID, in network byte order. */
    public static final int GID_ADDRESS_OFFSET = 0;

    /** Offset of the {@code int} with the type of the GID: one of the {@code GID_…} constants below. */
    public static final int GID_TYPE_OFFSET = 16;

    /** Type of a GID: this libibverbs is too old to tell. */
    public static final int GID_UNKNOWN = 0;

    /** Type of a GID: InfiniBand. */
    public static final int GID_INFINIBAND = 1;

    /** Type of a GID: RoCE version 1, within one Ethernet segment. */
    public static final int GID_ROCE_V1 = 2;

    /** Type of a GID: RoCE version 2, over UDP. */
    public static final int GID_ROCE_V2 = 3;

    /** Size of the record of {@link #nextAsyncEvent} in bytes. */
    public static final int EVENT_BYTES = 24;

    /** Offset of the {@code int} with the type: one of the {@code EVENT_…} constants below. */
    public static final int EVENT_TYPE_OFFSET = 0;

    /** Offset of the {@code int} with the number of the port; 0 if the event is not about a port. */
    public static final int EVENT_PORT_OFFSET = 4;

    /** Offset of the {@code long} with the handle of the queue pair, completion queue or receive queue, or 0. */
    public static final int EVENT_HANDLE_OFFSET = 8;

    /** Offset of the {@code int} with the queue pair's number; 0 if the event is not about a queue pair. */
    public static final int EVENT_QUEUE_PAIR_NUMBER_OFFSET = 16;

    /** A completion queue has overflowed or failed; its queue pairs are lost. */
    public static final int EVENT_COMPLETION_QUEUE_ERROR = 0;

    /** A queue pair failed, and could not even complete its work with errors. */
    public static final int EVENT_QUEUE_PAIR_FATAL = 1;

    /** A queue pair was sent something invalid by its peer. */
    public static final int EVENT_QUEUE_PAIR_REQUEST_ERROR = 2;

    /** A queue pair was sent something by its peer that the peer has no right to. */
    public static final int EVENT_QUEUE_PAIR_ACCESS_ERROR = 3;

    /** The first message has come to a queue pair that is ready to receive. */
    public static final int EVENT_COMMUNICATION_ESTABLISHED = 4;

    /** The send queue of a queue pair has drained. */
    public static final int EVENT_SEND_QUEUE_DRAINED = 5;

    /** A queue pair has gone over to its other path. */
    public static final int EVENT_PATH_MIGRATED = 6;

    /** A queue pair could not go over to its other path. */
    public static final int EVENT_PATH_MIGRATION_ERROR = 7;

    /** The device has failed or was removed; all that belongs to it is lost. */
    public static final int EVENT_DEVICE_FATAL = 8;

    /** A port has become active. */
    public static final int EVENT_PORT_ACTIVE = 9;

    /** A port is no longer active. */
    public static final int EVENT_PORT_ERROR = 10;

    /** The local identifier of a port has changed. */
    public static final int EVENT_LID_CHANGE = 11;

    /** The partition keys of a port have changed. */
    public static final int EVENT_PARTITION_KEY_CHANGE = 12;

    /** Another subnet manager serves a port. */
    public static final int EVENT_SUBNET_MANAGER_CHANGE = 13;

    /** A shared receive queue has failed. */
    public static final int EVENT_SHARED_RECEIVE_QUEUE_ERROR = 14;

    /** A shared receive queue holds fewer work requests than its limit. */
    public static final int EVENT_SHARED_RECEIVE_QUEUE_LIMIT_REACHED = 15;

    /** A queue pair in the error state takes no more from its shared receive queue. */
    public static final int EVENT_LAST_WORK_REQUEST_REACHED = 16;

    /** The subnet manager of a port wants clients to register again. */
    public static final int EVENT_CLIENT_REREGISTER = 17;

    /** The GIDs of a port have changed. */
    public static final int EVENT_GID_CHANGE = 18;

    static {
        NativeLibrary.ensureAvailable();
    }

    private VerbsDevice() {}

    /**
     * Names the devices that are there now.
     *
     * @return the names as the kernel gives them, for example {@code mlx5_0}; empty where there are none, no driver, or no
     *     loaded library
     */
    public static String[] names() {
        byte[][] names = list();
        String[] result = new String[names.length];
        for (int i = 0; i < names.length; i++) {
            result[i] = new String(names[i], UTF_8);
        }
        return result;
    }

    private static native byte[][] list();

    /**
     * Opens a device. It may be opened several times; what is made on one handle cannot be used with another.
     *
     * @param name one of {@link #names}
     * @return the device's handle, or {@code -errno}: {@code -ENODEV} if there is none of that name or the library is not
     *     loaded, {@code -EACCES} without the right to its file in {@code /dev/infiniband}
     */
    public static long open(String name) {
        return openNamed(name.getBytes(UTF_8));
    }

    private static native long openNamed(byte[] name);

    /**
     * Closes a device, on which nothing must be left.
     *
     * @param device the device
     * @return 0 or {@code -errno}: {@code -EBUSY}, from some drivers, if something is left
     */
    public static native int close(long device);

    /**
     * Tells what a device is and can do.
     *
     * @param device the device
     * @param recordAddress where to write {@link #DEVICE_BYTES} bytes; see {@code DEVICE_…_OFFSET}
     * @return 0 or {@code -errno}
     */
    public static native int query(long device, long recordAddress);

    /**
     * Tells what a port is and in which state.
     *
     * @param device the device
     * @param port the port's number, from 1
     * @param recordAddress where to write {@link #PORT_BYTES} bytes; see {@code PORT_…_OFFSET}
     * @return 0 or {@code -errno}: {@code -EINVAL} if there is no such port
     */
    public static native int queryPort(long device, int port, long recordAddress);

    /**
     * Reads an entry of a port's table of GIDs.
     *
     * @param device the device
     * @param port the port's number, from 1
     * @param index the entry's index, from 0
     * @param recordAddress where to write {@link #GID_BYTES} bytes; see {@code GID_…_OFFSET}
     * @return 0, or {@code -errno}: {@code -ENODATA} if the entry is empty (an old libibverbs gives 16 zero bytes instead),
     *     {@code -EINVAL} if there is none
     */
    public static native int queryGid(long device, int port, int index, long recordAddress);

    /**
     * Returns the file descriptor that is readable while asynchronous events wait. It does not block, and belongs to
     * the device: never close it.
     *
     * @param device the device
     * @return the file descriptor or {@code -errno}
     */
    public static native int asyncDescriptor(long device);

    /**
     * Takes the next asynchronous event and acknowledges it. Destroying the object that an event is about waits
     * until it is acknowledged, so the handle in the record may be gone by the time it is looked at: compare it with those
     * that are known to live, before anything else is done with it.
     *
     * @param device the device
     * @param recordAddress where to write {@link #EVENT_BYTES} bytes; see {@code EVENT_…_OFFSET}
     * @return 1 if there was one, 0 if none waits, or {@code -errno}
     */
    public static native int nextAsyncEvent(long device, long recordAddress);

    /**
     * Creates a protection domain. Memory regions, receive queues and queue pairs work together within one only.
     *
     * @param device the device
     * @return the domain's handle, or {@code -errno}: {@code -ENOMEM}
     */
    public static native long allocateProtectionDomain(long device);

    /**
     * Ends a protection domain, in which nothing must be left.
     *
     * @param domain the domain
     * @return 0 or {@code -errno}: {@code -EBUSY} if something is left
     */
    public static native int freeProtectionDomain(long domain);
}
