package io.sluice.jni;

import static java.nio.charset.StandardCharsets.UTF_8;

/** RDMA devices, their ports, their asynchronous events, and the protection domains on them. See {@link VerbsLibrary}. */
public final class VerbsDevice {
    // The generated C header carries these values; the shim does not compile where those of libibverbs differ.

    /** Size of the record of {@link #query} in bytes. */
    public static final int DEVICE_BYTES = 80;

    /** Offset of the {@code long} with the size of the largest memory region in bytes. */
    public static final int DEVICE_MAX_REGION_BYTES_OFFSET = 0;

    /** Offset of the {@code long} with the GUID of the node. */
    public static final int DEVICE_NODE_GUID_OFFSET = 8;

    /** Offset of the {@code int} with the largest number of queue pairs. */
    public static final int DEVICE_MAX_QUEUE_PAIRS_OFFSET = 16;

    /** Offset of the {@code int} with the largest depth of a queue pair's queue. */
    public static final int DEVICE_MAX_QUEUE_PAIR_WORK_REQUESTS_OFFSET = 20;

    /** Offset of the {@code int} with the most gather entries of a work request. */
    public static final int DEVICE_MAX_SGE_OFFSET = 24;

    /** Offset of the {@code int} with the largest number of completion queues. */
    public static final int DEVICE_MAX_COMPLETION_QUEUES_OFFSET = 28;

    /** Offset of the {@code int} with the largest number of entries of a completion queue. */
    public static final int DEVICE_MAX_COMPLETION_QUEUE_ENTRIES_OFFSET = 32;

    /** Offset of the {@code int} with the largest number of memory regions. */
    public static final int DEVICE_MAX_REGIONS_OFFSET = 36;

    /** Offset of the {@code int} with the most reads and atomics that a queue pair serves concurrently. */
    public static final int DEVICE_MAX_READ_DEPTH_AS_TARGET_OFFSET = 40;

    /** Offset of the {@code int} with the most reads and atomics that a queue pair can have in flight. */
    public static final int DEVICE_MAX_READ_DEPTH_AS_INITIATOR_OFFSET = 44;

    /** Offset of the {@code int} with the largest number of shared receive queues; 0 where there are none. */
    public static final int DEVICE_MAX_SHARED_RECEIVE_QUEUES_OFFSET = 48;

    /** Offset of the {@code int} with the largest depth of a shared receive queue. */
    public static final int DEVICE_MAX_SHARED_RECEIVE_QUEUE_WORK_REQUESTS_OFFSET = 52;

    /** Offset of the {@code int} with the number of ports; they are numbered from 1. */
    public static final int DEVICE_PORTS_OFFSET = 56;

    /** Offset of the {@code int} with the scope of atomics: one of {@code ATOMICS_…}. */
    public static final int DEVICE_ATOMICS_OFFSET = 60;

    /**
     * Offset of the {@code int} with the operations of reliable connections in on-demand paged memory: a bitwise union
     * of {@code ON_DEMAND_…}, or 0 if there is none or it is unknown.
     */
    public static final int DEVICE_ON_DEMAND_PAGING_OFFSET = 64;

    /** Offset of the {@code int} with the vendor id. */
    public static final int DEVICE_VENDOR_ID_OFFSET = 68;

    /** Offset of the {@code int} with the vendor's part id. */
    public static final int DEVICE_VENDOR_PART_ID_OFFSET = 72;

    /** Offset of the {@code int} with the most gather entries of a read. */
    public static final int DEVICE_MAX_SGE_OF_READS_OFFSET = 76;

    /** The device has no atomics. */
    public static final int ATOMICS_NONE = 0;

    /** Atomics are atomic with respect to the same adapter. */
    public static final int ATOMICS_WITHIN_ADAPTER = 1;

    /** Atomics are atomic with respect to adapters and processors. */
    public static final int ATOMICS_GLOBAL = 2;

    /** A send may read on-demand paged memory. */
    public static final int ON_DEMAND_SEND = 1;

    /** A receive may write on-demand paged memory. */
    public static final int ON_DEMAND_RECEIVE = 1 << 1;

    /** A write may access on-demand paged memory. */
    public static final int ON_DEMAND_WRITE = 1 << 2;

    /** A read may access on-demand paged memory. */
    public static final int ON_DEMAND_READ = 1 << 3;

    /** An atomic may change on-demand paged memory. */
    public static final int ON_DEMAND_ATOMIC = 1 << 4;

    /** A shared receive queue may hold on-demand paged memory. */
    public static final int ON_DEMAND_SHARED_RECEIVE = 1 << 5;

    /** Size of the record of {@link #queryPort} in bytes. */
    public static final int PORT_BYTES = 48;

    /** Offset of the {@code long} with the length of the longest message in bytes. */
    public static final int PORT_MAX_MESSAGE_BYTES_OFFSET = 0;

    /** Offset of the {@code int} with the state, such as {@link #PORT_ACTIVE}. */
    public static final int PORT_STATE_OFFSET = 8;

    /** Offset of the {@code int} with the active MTU in bytes: 256, 512, 1024, 2048 or 4096; 0 if unknown. */
    public static final int PORT_ACTIVE_MTU_BYTES_OFFSET = 12;

    /** Offset of the {@code int} with the largest MTU in bytes; 0 if unknown. */
    public static final int PORT_MAX_MTU_BYTES_OFFSET = 16;

    /** Offset of the {@code int} with the local identifier, 0 to 65535; 0 on Ethernet. */
    public static final int PORT_LID_OFFSET = 20;

    /** Offset of the {@code int} with the link layer: {@link #LINK_INFINIBAND} or {@link #LINK_ETHERNET}. */
    public static final int PORT_LINK_LAYER_OFFSET = 24;

    /** Offset of the {@code int} with the length of the GID table, including empty entries. */
    public static final int PORT_GID_TABLE_LENGTH_OFFSET = 28;

    /** Offset of the {@code int} with the width of the link, as libibverbs encodes it. */
    public static final int PORT_ACTIVE_WIDTH_OFFSET = 32;

    /** Offset of the {@code int} with the speed of one lane of the link, as libibverbs encodes it. */
    public static final int PORT_ACTIVE_SPEED_OFFSET = 36;

    /** Offset of the {@code int} with the subnet manager's local identifier; 0 on Ethernet. */
    public static final int PORT_SUBNET_MANAGER_LID_OFFSET = 40;

    /** State of a port: the link is down. */
    public static final int PORT_DOWN = 1;

    /** State of a port: the link is up, but the subnet manager has not configured it. */
    public static final int PORT_INITIALISING = 2;

    /** State of a port: configured, but not yet active. */
    public static final int PORT_ARMED = 3;

    /** State of a port: active. */
    public static final int PORT_ACTIVE = 4;

    /** State of a port: it was active, and the link failed temporarily. */
    public static final int PORT_ACTIVE_DEFER = 5;

    /** Link layer of a port: InfiniBand, or not reported by the driver. */
    public static final int LINK_INFINIBAND = 1;

    /** Link layer of a port: Ethernet (RoCE, iWARP). */
    public static final int LINK_ETHERNET = 2;

    /** Size of the record of {@link #queryGid} in bytes. */
    public static final int GID_BYTES = 20;

    /** Offset of the 16 bytes of the GID, in network byte order. */
    public static final int GID_ADDRESS_OFFSET = 0;

    /** Offset of the {@code int} with the type of the GID: one of the {@code GID_…} constants below. */
    public static final int GID_TYPE_OFFSET = 16;

    /** Type of a GID: not reported by this old libibverbs. */
    public static final int GID_UNKNOWN = 0;

    /** Type of a GID: InfiniBand. */
    public static final int GID_INFINIBAND = 1;

    /** Type of a GID: RoCE version 1, within one Ethernet segment. */
    public static final int GID_ROCE_V1 = 2;

    /** Type of a GID: RoCE version 2, over UDP. */
    public static final int GID_ROCE_V2 = 3;

    /** Size of the record of {@link #nextAsyncEvent} in bytes. */
    public static final int EVENT_BYTES = 24;

    /** Offset of the {@code int} with the event type: one of the {@code EVENT_…} constants below. */
    public static final int EVENT_TYPE_OFFSET = 0;

    /** Offset of the {@code int} with the port number; 0 if the event is not about a port. */
    public static final int EVENT_PORT_OFFSET = 4;

    /** Offset of the {@code long} with the handle of the queue pair, completion queue or receive queue, or 0. */
    public static final int EVENT_HANDLE_OFFSET = 8;

    /** Offset of the {@code int} with the queue pair's number; 0 if the event is not about a queue pair. */
    public static final int EVENT_QUEUE_PAIR_NUMBER_OFFSET = 16;

    /** A completion queue has overflowed or failed; its queue pairs are lost. */
    public static final int EVENT_COMPLETION_QUEUE_ERROR = 0;

    /** A queue pair failed and could not complete its work with errors. */
    public static final int EVENT_QUEUE_PAIR_FATAL = 1;

    /** A queue pair received an invalid request. */
    public static final int EVENT_QUEUE_PAIR_REQUEST_ERROR = 2;

    /** A queue pair received a request that violates access rights. */
    public static final int EVENT_QUEUE_PAIR_ACCESS_ERROR = 3;

    /** The first message arrived at a queue pair that is ready to receive. */
    public static final int EVENT_COMMUNICATION_ESTABLISHED = 4;

    /** The send queue of a queue pair has drained. */
    public static final int EVENT_SEND_QUEUE_DRAINED = 5;

    /** A queue pair has migrated to its alternate path. */
    public static final int EVENT_PATH_MIGRATED = 6;

    /** A queue pair failed to migrate to its alternate path. */
    public static final int EVENT_PATH_MIGRATION_ERROR = 7;

    /** The device has failed or was removed; all its objects are lost. */
    public static final int EVENT_DEVICE_FATAL = 8;

    /** A port has become active. */
    public static final int EVENT_PORT_ACTIVE = 9;

    /** A port is no longer active. */
    public static final int EVENT_PORT_ERROR = 10;

    /** The local identifier of a port has changed. */
    public static final int EVENT_LID_CHANGE = 11;

    /** The partition keys of a port have changed. */
    public static final int EVENT_PARTITION_KEY_CHANGE = 12;

    /** Another subnet manager manages a port. */
    public static final int EVENT_SUBNET_MANAGER_CHANGE = 13;

    /** A shared receive queue has failed. */
    public static final int EVENT_SHARED_RECEIVE_QUEUE_ERROR = 14;

    /** A shared receive queue holds fewer receives than its limit. */
    public static final int EVENT_SHARED_RECEIVE_QUEUE_LIMIT_REACHED = 15;

    /** A queue pair in the error state consumes no more receives of its shared receive queue. */
    public static final int EVENT_LAST_WORK_REQUEST_REACHED = 16;

    /** The subnet manager of a port asks clients to register again. */
    public static final int EVENT_CLIENT_REREGISTER = 17;

    /** The GIDs of a port have changed. */
    public static final int EVENT_GID_CHANGE = 18;

    static {
        NativeLibrary.ensureAvailable();
    }

    private VerbsDevice() {}

    /**
     * Lists the names of the present devices.
     *
     * @return the names in the kernel, for example {@code mlx5_0}; empty without devices, driver, or loaded library
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
     * Opens a device. It may be opened several times; objects of one handle cannot be used with another.
     *
     * @param name one of {@link #names}
     * @return the device's handle, or {@code -errno}: {@code -ENODEV} if there is no such device or the library is not
     *     loaded, {@code -EACCES} without access to its file in {@code /dev/infiniband}
     */
    public static long open(String name) {
        return openNamed(name.getBytes(UTF_8));
    }

    private static native long openNamed(byte[] name);

    /**
     * Closes a device without remaining objects.
     *
     * @param device the device
     * @return 0 or {@code -errno}: {@code -EBUSY}, from some drivers, if objects remain
     */
    public static native int close(long device);

    /**
     * Queries the attributes of a device.
     *
     * @param device the device
     * @param recordAddress the address of {@link #DEVICE_BYTES} bytes to write; see {@code DEVICE_…_OFFSET}
     * @return 0 or {@code -errno}
     */
    public static native int query(long device, long recordAddress);

    /**
     * Queries the attributes and state of a port.
     *
     * @param device the device
     * @param port the port's number, from 1
     * @param recordAddress the address of {@link #PORT_BYTES} bytes to write; see {@code PORT_…_OFFSET}
     * @return 0 or {@code -errno}: {@code -EINVAL} if there is no such port
     */
    public static native int queryPort(long device, int port, long recordAddress);

    /**
     * Reads an entry of a port's table of GIDs.
     *
     * @param device the device
     * @param port the port's number, from 1
     * @param index the entry's index, from 0
     * @param recordAddress the address of {@link #GID_BYTES} bytes to write; see {@code GID_…_OFFSET}
     * @return 0, or {@code -errno}: {@code -ENODATA} if the entry is empty (an old libibverbs returns 16 zero bytes
     *     instead), {@code -EINVAL} if there is no such entry
     */
    public static native int queryGid(long device, int port, int index, long recordAddress);

    /**
     * Returns the file descriptor that is readable while asynchronous events are pending. It does not block, and
     * belongs to the device: do not close it.
     *
     * @param device the device
     * @return the file descriptor or {@code -errno}
     */
    public static native int asyncDescriptor(long device);

    /**
     * Takes the next asynchronous event and acknowledges it. Destroying the object of an event blocks until the event
     * is acknowledged, so the handle in the record may be invalid by the time it is read: compare it with those known
     * to be alive before any other use.
     *
     * @param device the device
     * @param recordAddress the address of {@link #EVENT_BYTES} bytes to write; see {@code EVENT_…_OFFSET}
     * @return 1 if there was one, 0 if none is pending, or {@code -errno}
     */
    public static native int nextAsyncEvent(long device, long recordAddress);

    /**
     * Creates a protection domain. Memory regions, receive queues and queue pairs work together only within one.
     *
     * @param device the device
     * @return the domain's handle, or {@code -errno}: {@code -ENOMEM}
     */
    public static native long allocateProtectionDomain(long device);

    /**
     * Frees a protection domain without remaining objects.
     *
     * @param domain the domain
     * @return 0 or {@code -errno}: {@code -EBUSY} if objects remain
     */
    public static native int freeProtectionDomain(long domain);
}
