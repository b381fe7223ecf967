package io.sluice.cuda;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import io.sluice.engine.TooManyPendingException;
import io.sluice.engine.TransferPriority;
import io.sluice.jni.CudaKernels;
import io.sluice.testkit.Patience;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;
import java.lang.management.ManagementFactory;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Works as one graph of the driver, and what a stream's work takes by the driver's events. */
class GpuGraphTest {
    private static final VarHandle WORD = ValueLayout.JAVA_LONG.varHandle();
    private static final int BYTES = 4000;
    private static final int WORD_AT = 4088;
    private static final int GATE_AT = 4080;
    private static final int RELAXED = 2;
    private static final LaunchShape SHAPE = LaunchShape.of(4, 128);

    private String gpu;
    private GpuModule module;
    private GpuStream stream;
    private PinnedBuffer buffer;
    private long graphs;

    @BeforeEach
    void open() {
        SoftGpu.load();
        graphs = SoftGpu.count("graphs");
        gpu = SoftGpu.id(0);
        module = GpuModule.load(gpu, CudaKernels.ptx().getBytes(US_ASCII));
        stream = GpuStream.create(gpu, TransferPriority.HIGH);
        buffer = PinnedBuffer.allocate(gpu, 4096);
    }

    @AfterEach
    void close() {
        openGate();
        stream.close();
        module.close();
        buffer.close();
        Patience.await(CompletableFuture.allOf(stream.released(), module.released(), buffer.released()));
        assertThat(SoftGpu.count("graphs")).isEqualTo(graphs);
    }

    private void openGate() {
        WORD.setRelease(buffer.segment(), (long) GATE_AT, 1L);
    }

    private KernelArguments filled(long seed) {
        return KernelArguments.ofLongs(buffer.address(), BYTES, seed);
    }

    private GpuWork filling(KernelArguments arguments) {
        return stream.work()
                .launch(module.kernel("sluice_fill_pattern"), SHAPE, arguments)
                .uses(buffer)
                .build();
    }

    private GpuWork comparing(long seed) {
        return stream.work()
                .launch(
                        module.kernel("sluice_compare_pattern"),
                        SHAPE,
                        KernelArguments.ofLongs(buffer.address(), BYTES, seed, buffer.address() + WORD_AT))
                .uses(buffer)
                .build();
    }

    /** It ends when the gate opens. */
    private GpuWork gate() {
        return stream.work()
                .launch(
                        module.kernel("sluice_wait"),
                        LaunchShape.of(1, 1),
                        KernelArguments.ofLongs(buffer.address() + GATE_AT))
                .uses(buffer)
                .build();
    }

    private void await(long number) {
        Patience.until("the stream has reached " + number, () -> stream.reached() >= number);
    }

    private void close(GpuGraph graph) {
        graph.close();
        Patience.await(graph.released());
    }

    private long differing() {
        return buffer.segment().get(ValueLayout.JAVA_LONG, WORD_AT);
    }

    @Test
    void works_follow_each_other_with_the_arguments_that_they_had() {
        KernelArguments arguments = filled(1);
        GpuGraph graph = GpuGraph.of(List.of(filling(filled(9)), filling(arguments), comparing(1)));
        assertThat(graph.kernels()).isEqualTo(3);
        arguments.set(2, 2L);
        GpuWork spoiling = filling(filled(3));
        for (int round = 1; round <= 20; round++) {
            assertThat(spoiling.submitUnnumbered()).isEqualTo(2 * round - 1);
            assertThat(graph.submit()).isEqualTo(2 * round);
            await(2 * round);
            assertThat(differing()).isZero();
        }
        await(comparing(2).submit());
        assertThat(differing()).isPositive();
        close(graph);
    }

    @Test
    void a_submission_allocates_nothing() {
        GpuGraph graph = GpuGraph.of(Collections.nCopies(4, filling(filled(1))));
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long least = Long.MAX_VALUE;
        for (int round = 0; round < 30; round++) {
            long before = threads.getCurrentThreadAllocatedBytes();
            for (int i = 0; i < 50; i++) {
                graph.submitUnnumbered();
            }
            least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
            await(graph.submit());
        }
        assertThat(least).isZero();
        close(graph);
    }

    @Test
    void it_is_given_back_when_what_was_submitted_is_done() {
        GpuGraph graph = GpuGraph.of(List.of(gate(), filling(filled(1))));
        long number = graph.submit();
        graph.close();
        module.close();
        assertThatThrownBy(graph::submit).isInstanceOf(GpuClosedException.class);
        assertThat(graph.released()).isNotDone();
        assertThat(stream.reached()).isZero();
        openGate();
        Patience.await(graph.released());
        assertThat(stream.reached()).isEqualTo(number);
        Patience.await(module.released());
    }

    @Test
    void a_module_stays_as_long_as_a_graph_of_its_kernels() {
        GpuGraph graph = GpuGraph.of(List.of(filling(filled(1))));
        await(graph.submit());
        module.close();
        assertThatThrownBy(graph::submit).isInstanceOf(GpuClosedException.class);
        assertThat(module.released()).isNotDone();
        close(graph);
        Patience.await(module.released());
    }

    @Test
    void it_may_be_closed_after_its_stream() {
        GpuStream first = GpuStream.create(gpu, TransferPriority.NORMAL);
        GpuGraph graph = GpuGraph.of(List.of(first.work()
                .launch(module.kernel("sluice_fill_pattern"), SHAPE, filled(1))
                .uses(buffer)
                .build()));
        long number = graph.submit();
        Patience.until("the stream has reached its work", () -> first.reached() >= number);
        first.close();
        Patience.await(first.released());
        assertThatThrownBy(graph::submit).isInstanceOf(GpuClosedException.class);
        assertThatThrownBy(graph::submitUnnumbered).isInstanceOf(GpuClosedException.class);
        close(graph);
        assertThat(SoftGpu.count("graphs")).isEqualTo(graphs);
    }

    /** A replay would store the number that the work had then. */
    @Test
    void a_stream_that_is_captured_takes_nothing() throws Throwable {
        GpuWork work = filling(filled(1));
        GpuGraph graph = GpuGraph.of(List.of(work));
        await(work.submit());
        work.submitUnnumbered();
        MethodHandle begin = SoftGpu.function(
                "cuStreamBeginCapture_v2",
                FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG, ValueLayout.JAVA_INT));
        MethodHandle end = SoftGpu.function(
                "cuStreamEndCapture",
                FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG, ValueLayout.ADDRESS));
        MethodHandle destroy =
                SoftGpu.function("cuGraphDestroy", FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.ADDRESS));
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment captured = arena.allocate(ValueLayout.ADDRESS);
            long handle = stream.handle();
            assertThat((int) begin.invokeExact(handle, RELAXED)).isZero();
            for (Runnable each : List.<Runnable>of(work::submit, work::submitUnnumbered, graph::submit)) {
                assertThatThrownBy(each::run)
                        .isInstanceOf(IllegalStateException.class)
                        .hasMessageContaining("captured");
            }
            graph.close();
            assertThat((int) end.invokeExact(handle, captured)).isZero();
            MemorySegment made = captured.get(ValueLayout.ADDRESS, 0);
            assertThat((int) destroy.invokeExact(made)).isZero();
        }
        assertThat(stream.submitted()).isEqualTo(2);
        Patience.await(graph.released());
        assertThat(work.submit()).isEqualTo(3);
        await(3);
    }

    /** As many as the driver takes without making the thread wait. */
    @Test
    void only_so_many_are_under_way() {
        GpuGraph graph = GpuGraph.of(Collections.nCopies(100, filling(filled(1))));
        GpuGraph longer = GpuGraph.of(Collections.nCopies(GpuWork.MOST_LAUNCHES + 1, filling(filled(1))));
        gate().submit();
        graph.submit();
        graph.submit();
        assertThatThrownBy(graph::submit).isInstanceOf(TooManyPendingException.class);
        assertThatThrownBy(longer::submit).isInstanceOf(TooManyPendingException.class);
        openGate();
        await(stream.submitted());
        await(longer.submit());
        close(graph);
        close(longer);
    }

    @Test
    void what_is_no_graph_is_refused() {
        assertThatThrownBy(() -> GpuGraph.of(List.of())).isInstanceOf(IllegalArgumentException.class);
        GpuStream other = GpuStream.create(gpu, TransferPriority.NORMAL);
        GpuWork work = filling(filled(1));
        GpuWork another = other.work()
                .launch(module.kernel("sluice_fill_pattern"), SHAPE, filled(1))
                .uses(buffer)
                .build();
        assertThatThrownBy(() -> GpuGraph.of(List.of(work, another)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("one stream");
        other.close();
        Patience.await(other.released());
        assertThatThrownBy(() -> GpuGraph.of(List.of(another))).isInstanceOf(GpuClosedException.class);
        module.close();
        assertThatThrownBy(() -> GpuGraph.of(List.of(work))).isInstanceOf(GpuClosedException.class);
    }

    @Test
    void a_timer_measures_what_is_between_its_ends() {
        GpuTimer timer = stream.timer();
        assertThatThrownBy(timer::nanos).isInstanceOf(IllegalStateException.class);
        timer.begin();
        gate().submit();
        long number = timer.end();
        assertThatThrownBy(timer::nanos).isInstanceOf(IllegalStateException.class);
        openGate();
        await(number);
        long first = timer.nanos();
        assertThat(first).isPositive();
        timer.begin();
        await(timer.end());
        assertThat(timer.nanos()).isNotNegative();
        timer.close();
        Patience.await(timer.released());
        assertThatThrownBy(timer::begin).isInstanceOf(GpuClosedException.class);
        assertThatThrownBy(timer::nanos).isInstanceOf(GpuClosedException.class);
    }
}
