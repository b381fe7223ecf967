package io.sluice.samples.report;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class ProgressLineTest {

    private static final long SECOND = 1_000_000_000L;

    private final AtomicLong clock = new AtomicLong(-5);
    private final ByteArrayOutputStream written = new ByteArrayOutputStream();
    private final PrintStream out = new PrintStream(written, false, StandardCharsets.UTF_8);

    private String text() {
        return written.toString(StandardCharsets.UTF_8);
    }

    private static ProgressLine.Progress progress(long done, long bytes) {
        return new ProgressLine.Progress(done, 100, bytes, 256, 3, 1);
    }

    @Test
    void rewritesOneLineOnATerminal() {
        ProgressLine line = new ProgressLine(out, true, clock::get);
        line.update(progress(1, 100));
        assertThat(text()).as("too early").isEmpty();
        clock.addAndGet(SECOND);
        line.update(progress(12, 1_500_000_000L));
        assertThat(text()).isEqualTo("\r12/100 requests, 1.50 GB/s, 256 in flight, 25.0 % cache hits");
        clock.addAndGet(SECOND / 10);
        line.update(progress(13, 1_600_000_000L));
        assertThat(text()).doesNotContain("13/100");
        clock.addAndGet(SECOND / 10);
        line.update(progress(14, 1_600_000_000L));
        assertThat(text()).endsWith("\r14/100 requests, 0.50 GB/s, 256 in flight, 25.0 % cache hits");
        clock.addAndGet(8 * SECOND / 10);
        line.finish(progress(100, 8_000_000_000L));
        assertThat(text()).endsWith("\r100/100 requests, 4.00 GB/s, 256 in flight, 25.0 % cache hits\n");
    }

    @Test
    void wipesTheRestOfALongerLine() {
        ProgressLine line = new ProgressLine(out, true, clock::get);
        clock.addAndGet(SECOND);
        line.update(new ProgressLine.Progress(1, 1_000_000, 0, 1_000_000, 0, 0));
        int length = text().length();
        line.finish(new ProgressLine.Progress(1, 1, 0, 0, 0, 0));
        String last = text().substring(length);
        assertThat(last).startsWith("\r1/1 requests").hasSize(length + 1).endsWith(" \n");
    }

    @Test
    void writesPlainLinesNowAndThenElsewhere() {
        ProgressLine line = new ProgressLine(out, false, clock::get);
        for (int i = 1; i <= 100; i++) {
            clock.addAndGet(SECOND / 10);
            line.update(progress(i, i * 100_000_000L));
        }
        line.finish(progress(100, 10_000_000_000L));
        assertThat(text()).isEqualTo("""
            10/100 requests, 1.00 GB/s, 256 in flight, 25.0 % cache hits
            60/100 requests, 1.00 GB/s, 256 in flight, 25.0 % cache hits
            100/100 requests, 1.00 GB/s, 256 in flight, 25.0 % cache hits
            """);
    }

    @Test
    void leavesOutATotalThatIsNotKnown() {
        ProgressLine line = new ProgressLine(out, false, clock::get);
        line.finish(new ProgressLine.Progress(7, ProgressLine.Progress.UNKNOWN, 0, 0, 0, 0));
        assertThat(text()).isEqualTo("7 requests, 0.00 GB/s, 0 in flight, 0.0 % cache hits\n");
    }

    @Test
    void writesNothingAfterTheEnd() {
        ProgressLine line = new ProgressLine(out, true, clock::get);
        line.finish(progress(100, 1));
        String end = text();
        clock.addAndGet(10 * SECOND);
        line.update(progress(100, 1));
        line.finish(progress(100, 1));
        assertThat(text()).isEqualTo(end);
    }

    @Test
    void aUsualLineFitsATerminal() {
        ProgressLine line = new ProgressLine(out, false, clock::get);
        clock.addAndGet(SECOND);
        line.finish(new ProgressLine.Progress(12_031, 12_031, 99_990_000_000L, 65_536, 0, 1));
        assertThat(text().length()).isLessThanOrEqualTo(81);
    }
}
