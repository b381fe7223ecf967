package io.sluice.cuda;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.cuda.GpuWorkFigures.Tally;
import io.sluice.engine.TooManyPendingException;
import io.sluice.engine.TransferPriority;
import io.sluice.jni.CudaKernels;
import io.sluice.testkit.Patience;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What is counted of works, while the stream carries them out and others read. */
class GpuWorkFiguresTest {
    private static final int WORKS = 4000;
    private static final long AMOUNT = 7;

    private GpuModule module;
    private GpuStream stream;
    private PinnedBuffer buffer;
    private GpuWork work;

    @BeforeEach
    void open() {
        SoftGpu.load();
        String gpu = SoftGpu.id(0);
        module = GpuModule.load(gpu, CudaKernels.ptx().getBytes(US_ASCII));
        stream = GpuStream.create(gpu, TransferPriority.HIGH);
        buffer = PinnedBuffer.allocate(gpu, 64);
        work = stream.work()
                .launch(
                        module.kernel("sluice_fill_pattern"),
                        LaunchShape.of(1, 32),
                        KernelArguments.ofLongs(buffer.address(), 64, 0))
                .uses(buffer)
                .build();
    }

    @AfterEach
    void close() {
        stream.close();
        module.close();
        buffer.close();
        Patience.await(CompletableFuture.allOf(stream.released(), module.released(), buffer.released()));
    }

    private long submit(int round) {
        while (true) {
            try {
                return round % 3 == 0 ? work.submit() : work.submitUnnumbered();
            } catch (TooManyPendingException full) {
                Thread.onSpinWait();
            }
        }
    }

    private void awaitAll() {
        long last = work.submit();
        Patience.until("the stream is through with all", () -> stream.reached() >= last);
    }

    /** Never falls, and is never ahead of what was started, though the memory of the last works is used again and again. */
    private static void assertInStep(GpuWorkFigures figures) {
        long before = 0;
        while (figures.started(1) < WORKS) {
            long ended = figures.ended(0);
            assertThat(ended).isGreaterThanOrEqualTo(before).isLessThanOrEqualTo(figures.started(0));
            before = ended;
        }
    }

    @Test
    void readersSeeNoMoreEndedThanStartedAndAllInTheEnd() {
        GpuWorkFigures figures = new GpuWorkFigures(stream, 2);
        Tally both = Tally.of(List.of(Tally.of(0, AMOUNT), Tally.of(0, AMOUNT), Tally.of(1, 0)));
        List<CompletableFuture<Void>> readers = List.of(
                CompletableFuture.runAsync(() -> assertInStep(figures), task -> new Thread(task).start()),
                CompletableFuture.runAsync(() -> assertInStep(figures), task -> new Thread(task).start()));
        for (int round = 0; round < WORKS; round++) {
            figures.started(both, submit(round));
        }
        readers.forEach(Patience::await);
        awaitAll();
        assertThat(figures.ended(0)).isEqualTo(2L * WORKS).isEqualTo(figures.started(0));
        assertThat(figures.ended(1)).isEqualTo(WORKS);
        assertThat(figures.amount(0)).isEqualTo(2 * WORKS * AMOUNT);
        assertThat(figures.works()).isEqualTo(WORKS);
    }

    @Test
    void whatHasASecondPartEndsWithThat() {
        GpuWorkFigures figures = new GpuWorkFigures(stream, 1);
        Tally one = Tally.of(0, AMOUNT);
        work.submit();
        figures.begun(one);
        awaitAll();
        assertThat(figures.started(0)).isEqualTo(1);
        assertThat(figures.ended(0)).isZero();
        figures.completed(one, work.submit());
        awaitAll();
        assertThat(figures.ended(0)).isEqualTo(1);
    }
}
