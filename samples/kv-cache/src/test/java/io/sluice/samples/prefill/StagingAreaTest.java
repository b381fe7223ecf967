package io.sluice.samples.prefill;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.EngineOptions;
import io.sluice.reactor.ReactiveTransferEngine;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;

class StagingAreaTest {

    private static final int PAGE_BYTES = 18_432;

    private final ReactiveTransferEngine engine =
            ReactiveTransferEngine.open(EngineOptions.builder().noListener().build());

    @AfterEach
    void close() {
        engine.engine().close();
    }

    @Test
    void buffersDoNotOverlap() {
        StagingArea area = StagingArea.allocate(engine, PAGE_BYTES);
        List<StagingArea.Buffer> buffers = takeAll(area);
        long pagesBytes = (long) area.pagesPerBuffer() * PAGE_BYTES;
        long end = 0;
        buffers.sort((a, b) -> Long.compare(a.pagesAt(), b.pagesAt()));
        for (StagingArea.Buffer buffer : buffers) {
            assertThat(buffer.pagesAt()).isGreaterThanOrEqualTo(end);
            assertThat(buffer.sealsAt()).isGreaterThanOrEqualTo(buffer.pagesAt() + pagesBytes);
            end = buffer.sealsAt() + area.pagesPerBuffer() * 4L;
        }
        assertThat(end).isLessThanOrEqualTo(area.region().length());
    }

    @Test
    void aPageLargerThanABufferMakesTheBufferLarger() {
        StagingArea area = StagingArea.allocate(engine, 3 << 20);
        assertThat(area.pagesPerBuffer()).isEqualTo(1);
    }

    @Test
    void whoCameFirstGetsTheNextFreeBuffer() {
        StagingArea area = StagingArea.allocate(engine, PAGE_BYTES);
        ArrayDeque<StagingArea.Buffer> taken = new ArrayDeque<>(takeAll(area));
        List<String> served = new ArrayList<>();
        area.acquire().subscribe(buffer -> served.add("first"));
        Disposable second = area.acquire().subscribe(buffer -> served.add("second"));
        area.acquire().subscribe(buffer -> served.add("third"));
        assertThat(served).isEmpty();
        second.dispose();
        area.release(taken.remove());
        assertThat(served).containsExactly("first");
        area.release(taken.remove());
        assertThat(served).containsExactly("first", "third");
    }

    @Test
    void whatACancelledSubscriberWasGivenIsNotLost() {
        StagingArea area = StagingArea.allocate(engine, PAGE_BYTES);
        List<StagingArea.Buffer> taken = takeAll(area);
        for (int round = 0; round < 100; round++) {
            Disposable waiting = area.acquire().subscribe();
            waiting.dispose();
        }
        taken.forEach(area::release);
        Set<StagingArea.Buffer> again = new HashSet<>(takeAll(area));
        assertThat(again).hasSameSizeAs(taken);
    }

    private static List<StagingArea.Buffer> takeAll(StagingArea area) {
        List<StagingArea.Buffer> taken = new ArrayList<>();
        for (int before = -1; before < taken.size(); ) {
            before = taken.size();
            Disposable acquiring = area.acquire().subscribe(taken::add);
            acquiring.dispose();
        }
        return taken;
    }
}
