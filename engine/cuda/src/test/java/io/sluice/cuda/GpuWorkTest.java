package io.sluice.cuda;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import io.sluice.engine.ConnectionClosedException;
import io.sluice.engine.EngineLoop;
import io.sluice.engine.SignalWait;
import io.sluice.engine.TooManyPendingException;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransferPriority;
import io.sluice.jni.CudaKernels;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Modules, launches and streams of a program of the user's. */
class GpuWorkTest {
    private static final byte[] PTX = CudaKernels.ptx().getBytes(US_ASCII);
    private static final VarHandle WORD = ValueLayout.JAVA_LONG.varHandle();
    private static final int BYTES = 4000;
    private static final int WORD_AT = 4088;
    private static final int GATE_AT = 4080;
    private static final LaunchShape SHAPE = LaunchShape.of(4, 128);

    private String gpu;
    private GpuModule module;
    private GpuStream stream;
    private PinnedBuffer buffer;
    private TransferEngine engine;
    private EngineLoop loop;

    @BeforeEach
    void open() {
        SoftGpu.load();
        gpu = SoftGpu.id(0);
        module = GpuModule.load(gpu, PTX);
        stream = GpuStream.create(gpu, TransferPriority.HIGH);
        buffer = PinnedBuffer.allocate(gpu, 4096);
        engine = TransferEngine.open(
                PatientOptions.builder().transports(List.of("tcp")).build());
        loop = Patience.await(engine.connect(engine.address())).loop();
    }

    @AfterEach
    void close() {
        SoftGpu.hang(false);
        SoftGpu.delay(0);
        openGate();
        stream.close();
        module.close();
        buffer.close();
        Patience.await(CompletableFuture.allOf(stream.released(), module.released(), buffer.released()));
        Patience.await(engine.closeAsync());
    }

    private void openGate() {
        try {
            WORD.setRelease(buffer.segment(), (long) GATE_AT, 1L);
        } catch (IllegalStateException closed) {
            // the test has closed it
        }
    }

    private static byte pattern(long seed, long at) {
        return (byte) ((seed + at) * 0x9e3779b97f4a7c15L >>> 56);
    }

    private KernelArguments fill(long seed) {
        return KernelArguments.ofLongs(buffer.address(), BYTES, seed);
    }

    private GpuWork filling(KernelArguments arguments) {
        return stream.work()
                .launch(module.kernel("sluice_fill_pattern"), SHAPE, arguments)
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

    /** Starts a wait whose callback adds its number, or its error, to a queue. */
    private static SignalWait wait(GpuStream of, EngineLoop on, BlockingQueue<Object> ends) {
        return of.onReached(on, (wait, value, error) -> {
            assertThat(on.inLoop() || error != null).isTrue();
            ends.add(error == null ? (Object) value : error);
        });
    }

    @Test
    void work_without_a_number_is_reached_with_what_follows_and_when_a_resource_closes() {
        GpuWork work = filling(fill(1));
        for (long number = 1; number <= 3; number++) {
            assertThat(work.submitUnnumbered()).isEqualTo(number);
        }
        assertThat(stream.reached()).isZero();
        assertThat(work.submit()).isEqualTo(4);
        await(4);
        // now and then one is stored
        for (int i = 0; i < GpuWork.MOST_UNNUMBERED; i++) {
            work.submitUnnumbered();
        }
        await(4 + GpuWork.MOST_UNNUMBERED);
        work.submitUnnumbered();
        PinnedBuffer other = PinnedBuffer.allocate(gpu, 8);
        stream.work()
                .launch(module.kernel("sluice_fill_pattern"), SHAPE, KernelArguments.ofLongs(other.address(), 8, 0))
                .uses(other)
                .build()
                .submitUnnumbered();
        other.close();
        Patience.await(other.released());
        await(6 + GpuWork.MOST_UNNUMBERED);
    }

    @Test
    void a_stream_that_is_full_of_work_without_numbers_empties_again() {
        GpuWork.Builder nine = stream.work().uses(buffer);
        for (int i = 0; i < 9; i++) {
            nine.launch(module.kernel("sluice_fill_pattern"), SHAPE, fill(i));
        }
        GpuWork work = nine.build();
        gate().submit();
        assertThatThrownBy(() -> {
                    for (int i = 0; i < 40; i++) {
                        work.submitUnnumbered();
                    }
                })
                .isInstanceOf(TooManyPendingException.class);
        long last = stream.submitted();
        openGate();
        await(last);
        await(work.submit());
    }

    @Test
    void launches_of_one_work_follow_each_other_and_the_loop_hears_of_their_end() {
        SoftGpu.delay(200_000);
        KernelArguments filled = fill(0);
        KernelArguments compared = KernelArguments.ofLongs(buffer.address(), BYTES, 0, buffer.address() + WORD_AT);
        GpuWork work = stream.work()
                .launch(module.kernel("sluice_fill_pattern"), SHAPE, filled)
                .launch(module.kernel("sluice_compare_pattern"), SHAPE, compared)
                .uses(buffer)
                .build();
        BlockingQueue<Object> ends = new LinkedBlockingQueue<>();
        SignalWait wait = wait(stream, loop, ends);
        for (long round = 1; round <= 20; round++) {
            // changed between launches, without another preparation
            filled.set(2, round);
            compared.set(2, round);
            long number = work.submit();
            assertThat(number).isEqualTo(round).isEqualTo(stream.submitted());
            wait.arm(number);
            assertThat(Patience.take("the end of round " + round, ends)).isEqualTo(number);
            assertThat(buffer.segment().get(ValueLayout.JAVA_LONG, WORD_AT)).isZero();
            for (int i = 0; i < BYTES; i += 97) {
                assertThat(buffer.segment().get(ValueLayout.JAVA_BYTE, i)).isEqualTo(pattern(round, i));
            }
        }
        assertThatThrownBy(() -> {
                    wait.arm(1000);
                    wait.arm(1000);
                })
                .isInstanceOf(IllegalStateException.class);
        assertThat(wait.disarm()).isTrue();
        assertThat(wait.disarm()).isFalse();
        wait.close();
        assertThat(ends).isEmpty();
    }

    /** The loop looks while another thread disarms: one of the two ends an arming. */
    @Test
    void each_arming_ends_once() {
        BlockingQueue<Object> ends = new LinkedBlockingQueue<>();
        SignalWait wait = wait(stream, loop, ends);
        long number = filling(fill(1)).submit();
        await(number);
        for (int round = 0; round < 5000; round++) {
            wait.arm(round % 2 == 0 ? number : 0);
            if (round % 5 != 0) {
                Thread.onSpinWait();
            }
            if (!wait.disarm()) {
                assertThat(Patience.take("the end of round " + round, ends)).isEqualTo(number);
            }
        }
        wait.arm(0);
        assertThat(Patience.take("the last", ends)).isEqualTo(number);
        assertThat(ends).isEmpty();
    }

    @Test
    void submitting_work_allocates_nothing() {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        GpuWork work = filling(fill(1));
        long least = Long.MAX_VALUE;
        for (int round = 0; round < 30; round++) {
            long before = threads.getCurrentThreadAllocatedBytes();
            for (int i = 0; i < 100; i++) {
                work.submit();
            }
            least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
            await(stream.submitted());
        }
        assertThat(least).isZero();
    }

    @Test
    void a_word_that_a_kernel_stores_is_seen_on_the_loop() {
        BlockingQueue<Long> values = new LinkedBlockingQueue<>();
        SignalWait wait = stream.onAtLeast(buffer, WORD_AT, loop, (of, value, error) -> values.add(value));
        wait.arm(1);
        KernelArguments compared = KernelArguments.ofLongs(buffer.address(), BYTES, 7, buffer.address() + WORD_AT);
        stream.work()
                .launch(module.kernel("sluice_compare_pattern"), SHAPE, compared)
                .uses(buffer)
                .build()
                .submit();
        assertThat(Patience.take("the word", values)).isPositive();
        wait.close();
        assertThatThrownBy(() -> stream.onAtLeast(buffer, 4092, loop, (of, value, error) -> {}))
                .isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> stream.onAtLeast(buffer, 12, loop, (of, value, error) -> {}))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void a_stream_of_the_users_is_used_and_stays() {
        try (GpuStream adopted = GpuStream.of(gpu, stream.handle())) {
            GpuWork work = adopted.work()
                    .launch(module.kernel("sluice_fill_pattern"), SHAPE, fill(3))
                    .build();
            long number = work.submit();
            Patience.until("it is done", () -> adopted.reached() == number);
            assertThat(buffer.segment().get(ValueLayout.JAVA_BYTE, 5)).isEqualTo(pattern(3, 5));
            adopted.close();
            Patience.await(adopted.released());
        }
        await(filling(fill(4)).submit());
        assertThat(buffer.segment().get(ValueLayout.JAVA_BYTE, 5)).isEqualTo(pattern(4, 5));
    }

    // ---- errors ----

    @Test
    void a_bad_module_is_an_error_with_what_the_compiler_says() {
        assertThatThrownBy(() -> GpuModule.load(gpu, ".version 6.3\n.target sm_75\n.entry broken(".getBytes(US_ASCII)))
                .isInstanceOfSatisfying(
                        GpuModuleException.class, e -> assertThat(e.log()).contains("ptxas"))
                .hasMessageContaining("ptxas")
                .hasMessageContaining(gpu);
        assertThatThrownBy(() -> GpuModule.load(gpu, new byte[0])).isInstanceOf(GpuModuleException.class);
        assertThatThrownBy(() -> GpuModule.load("GPU-0", PTX)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> GpuStream.create("GPU-0", TransferPriority.LOW))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> PinnedBuffer.allocate("GPU-0", 8)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> PinnedBuffer.allocate(gpu, 0)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void an_unknown_kernel_and_arguments_of_another_one_are_refused() {
        assertThatThrownBy(() -> module.kernel("sluice_none"))
                .isInstanceOf(GpuModuleException.class)
                .hasMessageContaining("sluice_none");
        GpuKernel kernel = module.kernel("sluice_fill_pattern");
        GpuWork.Builder builder = stream.work();
        assertThatThrownBy(() -> builder.launch(kernel, SHAPE, KernelArguments.ofLongs(1, 2)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("sluice_fill_pattern");
        assertThatThrownBy(() -> builder.launch(
                        kernel,
                        SHAPE,
                        KernelArguments.of(ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG, ValueLayout.JAVA_INT)))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(builder::build).isInstanceOf(IllegalStateException.class);
        try (GpuStream other = GpuStream.create(SoftGpu.id(1), TransferPriority.NORMAL)) {
            assertThatThrownBy(() -> other.work().launch(kernel, SHAPE, fill(0)))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining(SoftGpu.id(1));
        }
    }

    /** The driver looks at the shape; what went before is carried out, and the stream goes on. */
    @Test
    void a_launch_that_the_driver_refuses_is_an_error_and_the_stream_goes_on() {
        GpuKernel kernel = module.kernel("sluice_fill_pattern");
        GpuWork work = stream.work()
                .launch(kernel, SHAPE, fill(11))
                .launch(kernel, new LaunchShape(1, 1, 1, 1024, 1, 2, 0), fill(12))
                .launch(kernel, SHAPE, fill(13))
                .build();
        assertThatThrownBy(work::submit).isInstanceOf(CudaException.class).hasMessageContaining("launch 2 of 3");
        await(stream.submitted());
        assertThat(buffer.segment().get(ValueLayout.JAVA_BYTE, 5)).isEqualTo(pattern(11, 5));
        await(filling(fill(14)).submit());
        assertThat(buffer.segment().get(ValueLayout.JAVA_BYTE, 5)).isEqualTo(pattern(14, 5));
        assertThatThrownBy(() -> LaunchShape.of(0, 32)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void much_shared_memory_takes_permission() {
        GpuKernel kernel = module.kernel("sluice_fill_pattern");
        GpuWork work = stream.work()
                .launch(kernel, SHAPE.withSharedBytes(100 << 10), fill(1))
                .build();
        await(work.submit());
        assertThatThrownBy(() -> stream.work().launch(kernel, SHAPE.withSharedBytes(1 << 20), fill(1)))
                .isInstanceOf(CudaException.class)
                .hasMessageContaining("shared memory");
    }

    @Test
    void more_launches_than_a_stream_has_room_for_are_refused_until_some_are_done() {
        GpuWork gate = gate();
        gate.submit();
        GpuWork work = filling(fill(1));
        assertThatThrownBy(() -> {
                    for (int i = 0; i <= StreamSequence.MOST_LAUNCHES; i++) {
                        work.submit();
                    }
                })
                .isInstanceOf(TooManyPendingException.class);
        long last = stream.submitted();
        openGate();
        await(last);
        await(work.submit());
    }

    // ---- ends ----

    @Test
    void nothing_is_launched_with_what_is_closed() {
        GpuWork work = filling(fill(1));
        buffer.close();
        assertThatThrownBy(work::submit).isInstanceOf(GpuClosedException.class).hasMessageContaining("buffer");
        GpuWork another = stream.work()
                .launch(module.kernel("sluice_wait"), SHAPE, KernelArguments.ofLongs(0))
                .build();
        module.close();
        assertThatThrownBy(another::submit)
                .isInstanceOf(GpuClosedException.class)
                .hasMessageContaining("module");
        assertThatThrownBy(() -> module.kernel("sluice_wait")).isInstanceOf(GpuClosedException.class);
        stream.close();
        Patience.await(stream.released());
        assertThatThrownBy(work::submit).isInstanceOf(GpuClosedException.class).hasMessageContaining("stream");
        assertThatThrownBy(stream::handle).isInstanceOf(GpuClosedException.class);
        assertThat(stream.reached()).isEqualTo(stream.submitted());
    }

    @Test
    void what_a_kernel_uses_stays_until_it_ends_and_then_all_is_given_back() {
        BlockingQueue<Object> ends = new LinkedBlockingQueue<>();
        SignalWait wait = wait(stream, loop, ends);
        long number = gate().submit();
        wait.arm(number);
        stream.close();
        module.close();
        buffer.close();
        // the gate can be opened as long as the buffer is not given back
        assertThat(stream.reached()).isLessThan(number);
        assertThat(List.of(stream.released(), module.released(), buffer.released()))
                .noneMatch(CompletableFuture::isDone);
        openGate();
        assertThat(Patience.take("the end", ends)).isEqualTo(number);
        Patience.await(CompletableFuture.allOf(stream.released(), module.released(), buffer.released()));
        assertThatThrownBy(() -> buffer.segment().get(ValueLayout.JAVA_BYTE, 0))
                .isInstanceOf(IllegalStateException.class);
        // of a closed stream: what was done is told, what was never submitted is an error
        wait.arm(number);
        assertThat(Patience.take("what was done", ends)).isEqualTo(number);
        wait.arm(number + 1);
        assertThat(Patience.take("what was not", ends)).isInstanceOf(GpuClosedException.class);
    }

    @Test
    void a_wait_of_a_loop_that_ends_is_an_error() {
        BlockingQueue<Object> ends = new LinkedBlockingQueue<>();
        SignalWait wait = wait(stream, loop, ends);
        wait.arm(5);
        Patience.await(engine.closeAsync());
        assertThat(Patience.take("the end of the loop", ends)).isInstanceOf(ConnectionClosedException.class);
        wait.arm(6);
        assertThat(Patience.take("the same again", ends)).isInstanceOf(ConnectionClosedException.class);
    }

    /** Each of them is closed while another thread launches: every launch is taken or refused, and none finds what is gone. */
    @Test
    void closing_while_another_thread_launches_is_safe() {
        SoftGpu.delay(20_000);
        for (int round = 0; round < 30; round++) {
            GpuModule loaded = GpuModule.load(gpu, PTX);
            GpuStream made = GpuStream.create(gpu, TransferPriority.NORMAL);
            PinnedBuffer pinned = PinnedBuffer.allocate(gpu, 4096);
            GpuWork work = made.work()
                    .launch(
                            loaded.kernel("sluice_fill_pattern"),
                            SHAPE,
                            KernelArguments.ofLongs(pinned.address(), 64, round))
                    .uses(pinned)
                    .build();
            CompletableFuture<Long> launched = new CompletableFuture<>();
            Thread thread = Thread.ofPlatform().start(() -> {
                long last = 0;
                try {
                    while (true) {
                        try {
                            last = work.submit();
                        } catch (TooManyPendingException e) {
                            Thread.onSpinWait();
                        }
                    }
                } catch (GpuClosedException e) {
                    launched.complete(last);
                } catch (RuntimeException e) {
                    launched.completeExceptionally(e);
                }
            });
            Patience.until("it launches", () -> made.submitted() > 0);
            List<AutoCloseable> closing = List.of(made, loaded, pinned);
            int first = round % closing.size();
            for (int i = 0; i < closing.size(); i++) {
                close(closing.get((first + i) % closing.size()));
            }
            Patience.await(launched);
            Patience.join(thread);
            Patience.await(CompletableFuture.allOf(made.released(), loaded.released(), pinned.released()));
        }
    }

    /** Such an error stays with a process, so that another one has it. */
    @Test
    void a_kernel_that_faults_is_a_typed_error_and_all_can_be_closed() throws IOException {
        try (GpuProcess process = new GpuProcess(LostKernelMain.class)) {
            assertThat(List.of(process.answer(), process.answer(), process.answer()))
                    .containsExactly("wait typed", "launch typed", "closed");
        }
    }

    private static void close(AutoCloseable each) {
        try {
            each.close();
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }
}
