package io.sluice.engine.transport.verbs;

import io.sluice.jni.VerbsDevice;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The attributes of a device's port.
 *
 * @param number the port number, from 1
 * @param state the state, such as {@link VerbsDevice#PORT_ACTIVE}
 * @param mtu the active MTU in bytes
 * @param lid the local identifier, 0 on Ethernet
 * @param ethernet whether it is RoCE
 * @param gids the length of the GID table
 * @param maxMessage the longest message in bytes
 */
record Port(int number, int state, int mtu, int lid, boolean ethernet, int gids, long maxMessage) {
    /** Queries a port of an open device. */
    static Port query(long device, String name, int number) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment record = arena.allocate(VerbsDevice.PORT_BYTES, Long.BYTES);
            Native.available(VerbsDevice.queryPort(device, number, record.address()), name, "report port " + number);
            return new Port(
                    number,
                    Native.intAt(record, VerbsDevice.PORT_STATE_OFFSET),
                    Native.intAt(record, VerbsDevice.PORT_ACTIVE_MTU_BYTES_OFFSET),
                    Native.intAt(record, VerbsDevice.PORT_LID_OFFSET),
                    Native.intAt(record, VerbsDevice.PORT_LINK_LAYER_OFFSET) == VerbsDevice.LINK_ETHERNET,
                    Native.intAt(record, VerbsDevice.PORT_GID_TABLE_LENGTH_OFFSET),
                    Native.longAt(record, VerbsDevice.PORT_MAX_MESSAGE_BYTES_OFFSET));
        }
    }

    boolean isActive() {
        return state == VerbsDevice.PORT_ACTIVE || state == VerbsDevice.PORT_ACTIVE_DEFER;
    }

    /**
     * Returns the GID to use.
     *
     * @throws IllegalArgumentException if the table lacks that entry, or is empty
     */
    Gid gid(long device, String name, int index) {
        if (index != VerbsOptions.CHOOSE_GID) {
            Gid asked = index < gids ? queryGid(device, name, index) : null;
            if (asked == null || asked.isEmpty()) {
                throw new IllegalArgumentException("port " + number + " of " + name + " has no GID " + index
                        + " (SLUICE_VERBS_GID_INDEX); it has " + table(device, name));
            }
            return asked;
        }
        List<Gid> table = table(device, name);
        if (!ethernet && !table.isEmpty()) {
            return table.getFirst();
        }
        // the first among equals
        return table.stream()
                .sorted(Comparator.comparingInt(Gid::rank).reversed())
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("port " + number + " of " + name + " has no GID"));
    }

    private List<Gid> table(long device, String name) {
        List<Gid> table = new ArrayList<>();
        for (int i = 0; i < gids; i++) {
            Gid gid = queryGid(device, name, i);
            if (gid != null && !gid.isEmpty()) {
                table.add(gid);
            }
        }
        return table;
    }

    private @Nullable Gid queryGid(long device, String name, int index) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment record = arena.allocate(VerbsDevice.GID_BYTES, Long.BYTES);
            if (VerbsDevice.queryGid(device, number, index, record.address()) < 0) {
                return null;
            }
            byte[] bytes =
                    record.asSlice(VerbsDevice.GID_ADDRESS_OFFSET, Gid.BYTES).toArray(ValueLayout.JAVA_BYTE);
            int type = Native.intAt(record, VerbsDevice.GID_TYPE_OFFSET);
            if (type == VerbsDevice.GID_UNKNOWN) {
                String text = Sysfs.gidType(name, number, index);
                type = "RoCE v2".equals(text) ? VerbsDevice.GID_ROCE_V2 : VerbsDevice.GID_UNKNOWN;
            }
            return new Gid(index, bytes, type);
        }
    }
}
