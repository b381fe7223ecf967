package io.sluice.jni;

import static io.sluice.jni.SoftGpu.ok;
import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.testkit.Patience;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Random;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class CudaStreamTest {
    private static final long INVALID_VALUE = -1;

    private SoftGpu gpu;
    private long granule;
    private long memory;

    @BeforeEach
    void open() {
        gpu = new SoftGpu(0);
        granule = ok(CudaMemory.granularity(gpu.device));
        memory = ok(CudaMemory.allocate(gpu.device, granule));
    }

    @AfterEach
    void close() {
        ok(CudaMemory.free(gpu.device, memory, granule));
        gpu.close();
    }

    private static void put(MemorySegment request, int offset, long value) {
        request.set(ValueLayout.JAVA_LONG, offset, value);
    }

    @Test
    void pages_go_from_and_to_their_offsets_and_the_signal_comes_behind() {
        Random random = new Random(7);
        byte[] bytes = new byte[64 << 10];
        random.nextBytes(bytes);
        gpu.pinned.asSlice(0, bytes.length).copyFrom(MemorySegment.ofArray(bytes));
        gpu.copy(memory, gpu.pinnedAddress, bytes.length);
        int pages = 37;
        int pageBytes = 1001;
        long to = 128 << 10;
        long tables = 512 << 10;
        for (int i = 0; i < pages; i++) {
            gpu.pinned.setAtIndex(ValueLayout.JAVA_LONG, tables / 8 + i, (long) (pages - 1 - i) * pageBytes);
            gpu.pinned.setAtIndex(ValueLayout.JAVA_LONG, tables / 8 + pages + i, random.nextInt(60_000));
        }
        MemorySegment request = gpu.operation(CudaStream.COPY_PAGES);
        request.set(ValueLayout.JAVA_INT, CudaStream.REQUEST_COUNT_OFFSET, pages);
        put(request, CudaStream.REQUEST_DESTINATION_OFFSET, gpu.pinnedAddress + to);
        put(request, CudaStream.REQUEST_SOURCE_OFFSET, memory);
        put(request, CudaStream.REQUEST_LENGTH_OFFSET, pageBytes);
        request.set(ValueLayout.JAVA_INT, CudaStream.REQUEST_MOST_BLOCKS_OFFSET, 2);
        put(request, CudaStream.REQUEST_DESTINATIONS_OFFSET, gpu.pinnedAddress + tables);
        put(request, CudaStream.REQUEST_SOURCES_OFFSET, gpu.pinnedAddress + tables + 8L * pages);
        put(request, CudaStream.REQUEST_SIGNAL_OFFSET, gpu.pinnedAddress + (700 << 10));
        put(request, CudaStream.REQUEST_ADDEND_OFFSET, 5);
        gpu.execute();
        assertThat(gpu.pinned.get(ValueLayout.JAVA_LONG, 700 << 10)).isEqualTo(5);
        for (int i = 0; i < pages; i++) {
            long from = gpu.pinned.getAtIndex(ValueLayout.JAVA_LONG, tables / 8 + pages + i);
            assertThat(gpu.pinned
                            .asSlice(to + (long) (pages - 1 - i) * pageBytes, pageBytes)
                            .mismatch(gpu.pinned.asSlice(from, pageBytes)))
                    .isEqualTo(-1);
        }
    }

    @Test
    void words_are_added_to_and_replaced_and_tell_what_they_held() {
        gpu.pinned.set(ValueLayout.JAVA_LONG, 0, 40);
        gpu.copy(memory + 64, gpu.pinnedAddress, 8);
        assertThat(fetch(CudaStream.FETCH_ADD, 2, 0)).isEqualTo(40);
        assertThat(fetch(CudaStream.COMPARE_AND_SWAP, 7, 41)).isEqualTo(42);
        assertThat(fetch(CudaStream.COMPARE_AND_SWAP, 7, 42)).isEqualTo(42);
        assertThat(fetch(CudaStream.FETCH_ADD, -8, 0)).isEqualTo(7);
        gpu.copy(gpu.pinnedAddress, memory + 64, 8);
        assertThat(gpu.pinned.get(ValueLayout.JAVA_LONG, 0)).isEqualTo(-1);
    }

    private long fetch(int operation, long operand, long expected) {
        MemorySegment request = gpu.operation(operation);
        put(request, CudaStream.REQUEST_DESTINATION_OFFSET, memory + 64);
        put(request, CudaStream.REQUEST_SOURCE_OFFSET, gpu.pinnedAddress + 128);
        put(request, CudaStream.REQUEST_LENGTH_OFFSET, operand);
        put(request, CudaStream.REQUEST_DESTINATIONS_OFFSET, expected);
        gpu.execute();
        return gpu.pinned.get(ValueLayout.JAVA_LONG, 128);
    }

    @Test
    void the_checksum_is_that_of_java() {
        byte[] bytes = new byte[100_003];
        new Random(9).nextBytes(bytes);
        gpu.pinned.asSlice(0, bytes.length).copyFrom(MemorySegment.ofArray(bytes));
        gpu.copy(memory, gpu.pinnedAddress, bytes.length);
        MemorySegment request = gpu.operation(CudaStream.CHECKSUM);
        put(request, CudaStream.REQUEST_DESTINATION_OFFSET, gpu.pinnedAddress + (512 << 10));
        put(request, CudaStream.REQUEST_SOURCE_OFFSET, memory);
        put(request, CudaStream.REQUEST_LENGTH_OFFSET, bytes.length);
        gpu.execute();
        CRC32C expected = new CRC32C();
        expected.update(bytes);
        assertThat(gpu.pinned.get(ValueLayout.JAVA_LONG, 512 << 10)).isEqualTo(expected.getValue());
    }

    @Test
    void bytes_are_filled() {
        MemorySegment request = gpu.operation(CudaStream.FILL);
        put(request, CudaStream.REQUEST_DESTINATION_OFFSET, memory);
        put(request, CudaStream.REQUEST_LENGTH_OFFSET, 0x5A);
        put(request, CudaStream.REQUEST_DESTINATIONS_OFFSET, 100);
        gpu.execute();
        gpu.copy(gpu.pinnedAddress, memory, 100);
        assertThat(gpu.pinned.asSlice(0, 100).toArray(ValueLayout.JAVA_BYTE)).containsOnly(0x5A);
    }

    @Test
    void a_stream_waits_for_the_event_of_another_and_tells_a_descriptor() {
        long event = ok(CudaStream.eventCreate(gpu.device));
        assertThat(CudaStream.eventQuery(gpu.device, event)).isZero();
        put(gpu.operation(CudaStream.RECORD_EVENT), CudaStream.REQUEST_DESTINATION_OFFSET, event);
        gpu.execute();
        put(gpu.operation(CudaStream.WAIT_EVENT), CudaStream.REQUEST_SOURCE_OFFSET, event);
        gpu.execute();
        int descriptor = EventDescriptor.create();
        ok(CudaStream.signal(gpu.stream, descriptor));
        Patience.until("the descriptor is signalled", () -> EventDescriptor.drain(descriptor) == 1);
        assertThat(Sockets.close(descriptor)).isZero();
        assertThat(CudaStream.handle(gpu.stream)).isPositive();
        ok(CudaStream.eventDestroy(gpu.device, event));
    }

    @Test
    void a_kernel_of_the_callers_is_launched() {
        try (Arena arena = Arena.ofConfined()) {
            long module = ok(CudaModule.load(
                    gpu.device, arena.allocateFrom(CudaKernels.ptx()).address()));
            long fill = ok(CudaModule.function(
                    module, arena.allocateFrom("sluice_fill_pattern").address()));
            long compare = ok(CudaModule.function(
                    module, arena.allocateFrom("sluice_compare_pattern").address()));
            assertThat(CudaModule.function(
                            module, arena.allocateFrom("sluice_none").address()))
                    .isEqualTo(-500);
            MemorySegment values = arena.allocateFrom(ValueLayout.JAVA_LONG, memory, 5000, 77, gpu.pinnedAddress);
            MemorySegment arguments = arena.allocate(4 * 8, 8);
            for (int i = 0; i < 4; i++) {
                arguments.setAtIndex(ValueLayout.JAVA_LONG, i, values.address() + 8L * i);
            }
            gpu.pinned.set(ValueLayout.JAVA_LONG, 0, 0);
            launch(fill, arguments);
            launch(compare, arguments);
            assertThat(gpu.pinned.get(ValueLayout.JAVA_LONG, 0)).isZero();
            gpu.pinned.set(ValueLayout.JAVA_LONG, 8, -1);
            gpu.copy(memory + 1000, gpu.pinnedAddress + 8, 8);
            launch(compare, arguments);
            assertThat(gpu.pinned.get(ValueLayout.JAVA_LONG, 0)).isBetween(7L, 8L);
            ok(CudaModule.unload(module));
        }
    }

    private void launch(long function, MemorySegment arguments) {
        MemorySegment request = gpu.operation(CudaStream.LAUNCH);
        request.set(ValueLayout.JAVA_INT, CudaStream.REQUEST_COUNT_OFFSET, 2);
        put(request, CudaStream.REQUEST_SOURCE_OFFSET, function);
        put(request, CudaStream.REQUEST_LENGTH_OFFSET, 128);
        put(request, CudaStream.REQUEST_DESTINATIONS_OFFSET, arguments.address());
        gpu.execute();
    }

    @Test
    void a_graph_is_launched_again_and_again_and_timed() {
        try (Arena arena = Arena.ofConfined()) {
            long module = ok(CudaModule.load(
                    gpu.device, arena.allocateFrom(CudaKernels.ptx()).address()));
            long fill = ok(CudaModule.function(
                    module, arena.allocateFrom("sluice_fill_pattern").address()));
            MemorySegment values = arena.allocateFrom(ValueLayout.JAVA_LONG, gpu.pinnedAddress, 5000, 77);
            MemorySegment arguments = arena.allocateFrom(
                    ValueLayout.JAVA_LONG, values.address(), values.address() + 8, values.address() + 16);
            MemorySegment launch = arena.allocate(CudaStream.REQUEST_BYTES, 8);
            put(launch, CudaStream.REQUEST_STREAM_OFFSET, gpu.stream);
            launch.set(ValueLayout.JAVA_INT, CudaStream.REQUEST_OPERATION_OFFSET, CudaStream.LAUNCH);
            launch.set(ValueLayout.JAVA_INT, CudaStream.REQUEST_COUNT_OFFSET, 1);
            put(launch, CudaStream.REQUEST_SOURCE_OFFSET, fill);
            put(launch, CudaStream.REQUEST_LENGTH_OFFSET, 128);
            put(launch, CudaStream.REQUEST_DESTINATIONS_OFFSET, arguments.address());
            long graph = ok(CudaGraph.create(gpu.device, launch.address(), 1));
            long begin = ok(CudaStream.eventCreateTimed(gpu.device));
            long end = ok(CudaStream.eventCreateTimed(gpu.device));
            for (int round = 0; round < 3; round++) {
                gpu.pinned.asSlice(0, 5000).fill((byte) 0);
                put(gpu.operation(CudaStream.RECORD_EVENT), CudaStream.REQUEST_DESTINATION_OFFSET, begin);
                gpu.execute();
                put(gpu.operation(CudaStream.LAUNCH_GRAPH), CudaStream.REQUEST_SOURCE_OFFSET, graph);
                gpu.execute();
                put(gpu.operation(CudaStream.RECORD_EVENT), CudaStream.REQUEST_DESTINATION_OFFSET, end);
                gpu.execute();
                assertThat(gpu.pinned.get(ValueLayout.JAVA_LONG, 4992)).isNotZero();
                assertThat(CudaStream.eventElapsed(gpu.device, begin, end)).isPositive();
            }
            ok(CudaStream.eventDestroy(gpu.device, begin));
            ok(CudaStream.eventDestroy(gpu.device, end));
            ok(CudaGraph.destroy(graph));
            put(launch, CudaStream.REQUEST_SOURCE_OFFSET, 0);
            assertThat(CudaGraph.create(gpu.device, launch.address(), 1)).isEqualTo(INVALID_VALUE);
            put(launch, CudaStream.REQUEST_SOURCE_OFFSET, fill);
            assertThat(CudaGraph.create(0, launch.address(), 1)).isEqualTo(INVALID_VALUE);
            ok(CudaModule.unload(module));
        }
    }

    @Test
    void a_request_that_is_none_is_refused_and_those_before_it_are_taken() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment table = arena.allocate(2L * CudaStream.REQUEST_BYTES, 8);
            put(table, CudaStream.REQUEST_STREAM_OFFSET, gpu.stream);
            table.set(ValueLayout.JAVA_INT, CudaStream.REQUEST_OPERATION_OFFSET, CudaStream.COMPLETE);
            MemorySegment second = table.asSlice(CudaStream.REQUEST_BYTES);
            put(second, CudaStream.REQUEST_STREAM_OFFSET, gpu.stream);
            second.set(ValueLayout.JAVA_INT, CudaStream.REQUEST_OPERATION_OFFSET, 99);
            assertThat(CudaStream.submit(table.address(), 2)).isEqualTo(1);
            assertThat(CudaStream.submit(second.address(), 1)).isEqualTo((int) INVALID_VALUE);
            put(second, CudaStream.REQUEST_STREAM_OFFSET, 0);
            assertThat(CudaStream.submit(second.address(), 1)).isEqualTo((int) INVALID_VALUE);
            assertThat(CudaStream.submit(table.address() + 1, 1)).isEqualTo((int) INVALID_VALUE);
            assertThat(CudaStream.submit(table.address(), 0)).isZero();
        }
    }
}
