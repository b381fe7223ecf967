package io.sluice.jni;

import static io.sluice.jni.VerbsPeer.handle;
import static io.sluice.jni.VerbsPeer.ok;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class VerbsDeviceTest {
    private final Arena arena = Arena.ofConfined();
    private final MemorySegment record = arena.allocate(128, 8);
    private long device;

    @BeforeEach
    void open() {
        SoftAdapter.load();
        device = handle(VerbsDevice.open(SoftAdapter.FIRST_DEVICE));
        record.fill((byte) 0x55);
    }

    @AfterEach
    void close() {
        ok(VerbsDevice.close(device));
        arena.close();
    }

    @Test
    void devices_are_found_by_name() {
        assertThat(VerbsDevice.names()).containsExactly(SoftAdapter.FIRST_DEVICE, SoftAdapter.SECOND_DEVICE);
        assertThat(VerbsDevice.open("soft")).isEqualTo(-Errno.ENODEV);
        assertThat(VerbsDevice.open("")).isEqualTo(-Errno.ENODEV);
        assertThat(VerbsDevice.open("soft0" + "x".repeat(100))).isEqualTo(-Errno.ENODEV);
    }

    @Test
    void a_device_tells_what_it_can_do() {
        ok(VerbsDevice.query(device, record.address()));
        assertThat(longAt(VerbsDevice.DEVICE_MAX_REGION_BYTES_OFFSET)).isGreaterThan(1L << 32);
        assertThat(longAt(VerbsDevice.DEVICE_NODE_GUID_OFFSET)).isNotZero();
        assertThat(intAt(VerbsDevice.DEVICE_MAX_QUEUE_PAIRS_OFFSET)).isPositive();
        assertThat(intAt(VerbsDevice.DEVICE_MAX_QUEUE_PAIR_WORK_REQUESTS_OFFSET))
                .isGreaterThan(1000);
        assertThat(intAt(VerbsDevice.DEVICE_MAX_SGE_OFFSET)).isPositive();
        assertThat(intAt(VerbsDevice.DEVICE_MAX_COMPLETION_QUEUES_OFFSET)).isPositive();
        assertThat(intAt(VerbsDevice.DEVICE_MAX_COMPLETION_QUEUE_ENTRIES_OFFSET))
                .isEqualTo(65535);
        assertThat(intAt(VerbsDevice.DEVICE_MAX_REGIONS_OFFSET)).isPositive();
        assertThat(intAt(VerbsDevice.DEVICE_MAX_READ_DEPTH_AS_TARGET_OFFSET)).isEqualTo(16);
        assertThat(intAt(VerbsDevice.DEVICE_MAX_READ_DEPTH_AS_INITIATOR_OFFSET)).isEqualTo(16);
        assertThat(intAt(VerbsDevice.DEVICE_MAX_SHARED_RECEIVE_QUEUES_OFFSET)).isPositive();
        assertThat(intAt(VerbsDevice.DEVICE_MAX_SHARED_RECEIVE_QUEUE_WORK_REQUESTS_OFFSET))
                .isPositive();
        assertThat(intAt(VerbsDevice.DEVICE_PORTS_OFFSET)).isEqualTo(1);
        assertThat(intAt(VerbsDevice.DEVICE_ATOMICS_OFFSET)).isEqualTo(VerbsDevice.ATOMICS_WITHIN_ADAPTER);
        assertThat(intAt(VerbsDevice.DEVICE_ON_DEMAND_PAGING_OFFSET)).isZero();
        assertThat(intAt(VerbsDevice.DEVICE_VENDOR_ID_OFFSET)).isEqualTo(0x5af7);
        assertThat(intAt(VerbsDevice.DEVICE_VENDOR_PART_ID_OFFSET)).isEqualTo(1);
        assertNothingBehind(VerbsDevice.DEVICE_BYTES);
    }

    @Test
    void a_port_tells_its_state() {
        ok(VerbsDevice.queryPort(device, 1, record.address()));
        assertThat(longAt(VerbsDevice.PORT_MAX_MESSAGE_BYTES_OFFSET)).isEqualTo(1L << 30);
        assertThat(intAt(VerbsDevice.PORT_STATE_OFFSET)).isEqualTo(VerbsDevice.PORT_ACTIVE);
        assertThat(intAt(VerbsDevice.PORT_ACTIVE_MTU_BYTES_OFFSET)).isEqualTo(4096);
        assertThat(intAt(VerbsDevice.PORT_MAX_MTU_BYTES_OFFSET)).isEqualTo(4096);
        assertThat(intAt(VerbsDevice.PORT_LID_OFFSET)).isZero();
        assertThat(intAt(VerbsDevice.PORT_LINK_LAYER_OFFSET)).isEqualTo(VerbsDevice.LINK_ETHERNET);
        assertThat(intAt(VerbsDevice.PORT_GID_TABLE_LENGTH_OFFSET)).isGreaterThan(1);
        assertThat(intAt(VerbsDevice.PORT_ACTIVE_WIDTH_OFFSET)).isPositive();
        assertThat(intAt(VerbsDevice.PORT_ACTIVE_SPEED_OFFSET)).isPositive();
        assertThat(intAt(VerbsDevice.PORT_SUBNET_MANAGER_LID_OFFSET)).isZero();
        assertNothingBehind(VerbsDevice.PORT_BYTES);
    }

    @Test
    void each_gid_has_an_address_and_a_type() {
        ok(VerbsDevice.queryGid(device, 1, 0, record.address()));
        assertThat(intAt(VerbsDevice.GID_TYPE_OFFSET)).isEqualTo(VerbsDevice.GID_ROCE_V2);
        byte[] first = record.asSlice(VerbsDevice.GID_ADDRESS_OFFSET, 16).toArray(ValueLayout.JAVA_BYTE);
        assertThat(first).startsWith(0xfe, 0x80);
        assertNothingBehind(VerbsDevice.GID_BYTES);
        ok(VerbsDevice.queryGid(device, 1, 1, record.address()));
        assertThat(record.asSlice(VerbsDevice.GID_ADDRESS_OFFSET, 16).toArray(ValueLayout.JAVA_BYTE))
                .isNotEqualTo(first);
        assertThat(VerbsDevice.queryGid(device, 1, 2, record.address())).isEqualTo(-Errno.ENODATA);
    }

    @Test
    void ports_and_records_that_are_none_are_errors() {
        assertThat(VerbsDevice.queryPort(device, 0, record.address())).isEqualTo(-Errno.EINVAL);
        assertThat(VerbsDevice.queryPort(device, 2, record.address())).isEqualTo(-Errno.EINVAL);
        // Not port 1, which is what is left of it in eight bits.
        assertThat(VerbsDevice.queryPort(device, 257, record.address())).isEqualTo(-Errno.EINVAL);
        assertThat(VerbsDevice.queryGid(device, 257, 0, record.address())).isEqualTo(-Errno.EINVAL);
        assertThat(VerbsDevice.queryGid(device, 1, -1, record.address())).isEqualTo(-Errno.EINVAL);
        assertThat(VerbsDevice.query(device, record.address() + 4)).isEqualTo(-Errno.EINVAL);
        assertThat(VerbsDevice.query(device, 0)).isEqualTo(-Errno.EINVAL);
        assertNothingBehind(0);
    }

    @Test
    void a_port_that_goes_down_and_up_is_an_asynchronous_event_each() throws Exception {
        assertThat(VerbsDevice.nextAsyncEvent(device, record.address())).isZero();
        assertNothingBehind(0);
        SoftAdapter.setPort(0, false);
        try {
            SocketPair.awaitReady(VerbsDevice.asyncDescriptor(device), Epoll.READABLE);
            assertThat(VerbsDevice.nextAsyncEvent(device, record.address())).isEqualTo(1);
            assertThat(intAt(VerbsDevice.EVENT_TYPE_OFFSET)).isEqualTo(VerbsDevice.EVENT_PORT_ERROR);
            assertThat(intAt(VerbsDevice.EVENT_PORT_OFFSET)).isEqualTo(1);
            assertThat(longAt(VerbsDevice.EVENT_HANDLE_OFFSET)).isZero();
            assertThat(intAt(VerbsDevice.EVENT_QUEUE_PAIR_NUMBER_OFFSET)).isZero();
            assertNothingBehind(VerbsDevice.EVENT_BYTES);
            ok(VerbsDevice.queryPort(device, 1, record.address()));
            assertThat(intAt(VerbsDevice.PORT_STATE_OFFSET)).isEqualTo(VerbsDevice.PORT_DOWN);
        } finally {
            SoftAdapter.setPort(0, true);
        }
        assertThat(VerbsDevice.nextAsyncEvent(device, record.address())).isEqualTo(1);
        assertThat(intAt(VerbsDevice.EVENT_TYPE_OFFSET)).isEqualTo(VerbsDevice.EVENT_PORT_ACTIVE);
        assertThat(VerbsDevice.nextAsyncEvent(device, record.address())).isZero();
    }

    @Test
    void a_queue_pair_that_breaks_is_named_by_its_event_and_can_be_destroyed_after_it() throws Exception {
        try (VerbsPeer peer = new VerbsPeer(SoftAdapter.SECOND_DEVICE)) {
            long[] pairs = VerbsPeer.connect(peer, peer);
            int number = VerbsQueuePair.number(pairs[0]);
            SoftAdapter.breakQueuePair(number);
            int types = 0;
            do {
                SocketPair.awaitReady(VerbsDevice.asyncDescriptor(peer.device), Epoll.READABLE);
                assertThat(VerbsDevice.nextAsyncEvent(peer.device, record.address()))
                        .isEqualTo(1);
                assertThat(intAt(VerbsDevice.EVENT_QUEUE_PAIR_NUMBER_OFFSET)).isEqualTo(number);
                assertThat(longAt(VerbsDevice.EVENT_HANDLE_OFFSET)).isEqualTo(pairs[0]);
                assertThat(intAt(VerbsDevice.EVENT_PORT_OFFSET)).isZero();
                types |= 1 << intAt(VerbsDevice.EVENT_TYPE_OFFSET);
            } while ((types & 1 << VerbsDevice.EVENT_QUEUE_PAIR_FATAL) == 0);
            assertThat(VerbsQueuePair.state(pairs[0])).isEqualTo(VerbsQueuePair.STATE_ERROR);
        }
    }

    @Test
    void a_protection_domain_in_use_is_not_freed() {
        long domain = handle(VerbsDevice.allocateProtectionDomain(device));
        long receives = handle(VerbsReceiveQueue.create(domain, 1));
        assertThat(VerbsDevice.freeProtectionDomain(domain)).isEqualTo(-Errno.EBUSY);
        ok(VerbsReceiveQueue.destroy(receives));
        ok(VerbsDevice.freeProtectionDomain(domain));
    }

    private int intAt(int offset) {
        return record.get(ValueLayout.JAVA_INT, offset);
    }

    private long longAt(int offset) {
        return record.get(ValueLayout.JAVA_LONG, offset);
    }

    private void assertNothingBehind(int bytes) {
        assertThat(record.asSlice(bytes).toArray(ValueLayout.JAVA_BYTE)).containsOnly(0x55);
    }
}
