package io.sluice.engine.bootstrap;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.Connection;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.LimitExceededException;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferEngine;
import io.sluice.testkit.ForkedJava;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Strangers say wrong hellos and hold silent sockets open, as many as they can, while an honest peer connects and closes one
 * connection after the other. From other addresses than its own they do not keep it out. From its own address they make it wait
 * for its turn, and be refused when too many wait; they take seven eighths of all places at most. The figures are printed;
 * docs/security.md has those of a whole run.
 */
@Tag("filler")
class StrangersLoadTest {
    private static final String TOKEN = "the token of this test";
    private static final byte[] OTHER_TOKEN = "the token of other engines".getBytes(StandardCharsets.UTF_8);
    private static final String HONEST = "127.0.0.1";
    private static final List<String> HELLO_FROM = addresses(2, 9);
    private static final List<String> SILENT_FROM = addresses(10, 17);
    // far below what the engine lets one address have, so that it is not the honest peer itself that is too fast
    private static final Duration PACE = Duration.ofMillis(10);
    private static final int CALM_CONNECTS = 20;
    private static final int PLACES = EngineOptions.defaults().maxHalfOpen();
    private static final int MOST_OF_ONE_ADDRESS = PLACES * 7 / 8;
    private static final int POLLERS = EngineOptions.defaults().pollers();

    @TempDir
    static Path folder;

    private static Path program;

    @BeforeAll
    static void compile() throws IOException {
        program = StrangerCrowd.compile(folder);
    }

    private record Load(Duration time, int hellosASecond, int silent) {}

    private static List<String> addresses(int first, int last) {
        return IntStream.rangeClosed(first, last).mapToObj(i -> "127.0.0." + i).toList();
    }

    private static StrangerCrowd.Plan plan(Load load, List<String> helloFrom, List<String> silentFrom) {
        byte[] hinted = StrangersTest.hello(OTHER_TOKEN);
        byte[] unmarked = StrangersTest.hello(new byte[0]);
        // the second kind is welcomed, as far as the rate goes, and its proof is wrong
        return new StrangerCrowd.Plan(
                helloFrom, load.hellosASecond(), List.of(hinted, unmarked), silentFrom, load.silent());
    }

    /** The outcomes of the honest peer's connects. */
    private static final class Connects {
        private final List<Long> nanos = new ArrayList<>();
        private final List<SluiceException> refused = new ArrayList<>();

        void add(TransferEngine honest, StrangersTarget target) {
            long start = System.nanoTime();
            try {
                Connection connection = Patience.await(honest.connect(target.address()));
                nanos.add(System.nanoTime() - start);
                Patience.await(connection.close());
            } catch (SluiceException e) {
                refused.add(e);
            }
            Patience.pause(Duration.ofNanos(Math.max(0, PACE.toNanos() - (System.nanoTime() - start))));
        }

        void addFor(Duration time, TransferEngine honest, StrangersTarget target) {
            long end = System.nanoTime() + time.toNanos();
            do {
                add(honest, target);
            } while (System.nanoTime() - end < 0);
        }

        Duration quantile(double part) {
            List<Long> sorted = new ArrayList<>(nanos);
            Collections.sort(sorted);
            int at = (int) Math.ceil(part * sorted.size()) - 1;
            return Duration.ofNanos(sorted.get(Math.max(0, at)));
        }

        String millis(double part) {
            return nanos.isEmpty() ? "-" : "%.1f".formatted(quantile(part).toNanos() / 1e6);
        }

        Map<String, Integer> reasons() {
            Map<String, Integer> reasons = new TreeMap<>();
            for (SluiceException each : refused) {
                String reason = each.getClass().getSimpleName() + ": "
                        + String.valueOf(each.getMessage()).replaceFirst("^\\S+:\\d+\\S* ", "");
                reasons.merge(reason, 1, Integer::sum);
            }
            return reasons;
        }
    }

    /** A row of the table, with the engine's memory meanwhile. */
    private static String row(
            String name, StrangersTarget target, Connects connects, long directBefore, long mostHalfOpen) {
        return "%-22s %9d %8d %8s %8s %8s %8.1f %8.1f %8.1f %9d"
                .formatted(
                        name,
                        connects.nanos.size(),
                        connects.refused.size(),
                        connects.millis(0.5),
                        connects.millis(0.99),
                        connects.millis(1),
                        directBefore / 1024.0 / 1024,
                        target.number("most-direct") / 1024.0 / 1024,
                        target.number("direct") / 1024.0 / 1024,
                        mostHalfOpen);
    }

    private static void run(Load load, List<String> options) throws IOException {
        List<String> report = new ArrayList<>();
        report.add("%-22s %9s %8s %8s %8s %8s %8s %8s %8s %9s"
                .formatted(
                        "honest peer",
                        "connects",
                        "refused",
                        "p50 ms",
                        "p99 ms",
                        "max ms",
                        "MiB then",
                        "most",
                        "after",
                        "half-open"));
        EngineOptions honestOptions = PatientOptions.builder()
                .transports(List.of("tcp"))
                .token(TOKEN.getBytes(StandardCharsets.UTF_8))
                .connectTimeout(Patience.BOUND)
                .noListener()
                .build();
        try (StrangersTarget target = new StrangersTarget(options, TOKEN);
                TransferEngine honest = TransferEngine.open(honestOptions)) {
            Load none = new Load(load.time().dividedBy(5), 0, 0);
            // what is loaded at the first time is not what is measured
            new Connects().addFor(none.time(), honest, target);
            phase("alone", none, plan(none, HELLO_FROM, SILENT_FROM), honest, target, report);

            Phase others =
                    phase("from other addresses", load, plan(load, HELLO_FROM, SILENT_FROM), honest, target, report);
            assertThat(others.connects().refused).isEmpty();
            assertThat(others.connects().nanos).isNotEmpty();
            assertThat(others.tally().refused()).as("hellos that were answered").isPositive();
            assertCalm(honest, target);

            Phase same = phase(
                    "from the same address",
                    load,
                    plan(load, List.of(HONEST), List.of(HONEST)),
                    honest,
                    target,
                    report);
            assertThat(same.connects().refused)
                    .allSatisfy(each -> assertThat(each)
                            .isInstanceOf(LimitExceededException.class)
                            .hasMessageContaining("too many peers are connecting at once (maxHalfOpen)"));
            assertThat(same.tally().refused()).as("hellos that were answered").isPositive();
            // the rest is for peers of other addresses, under any load from this one
            assertThat(same.mostHalfOpen()).isLessThanOrEqualTo(MOST_OF_ONE_ADDRESS);
            assertCalm(honest, target);

            assertThat(target.number("buffers")).as("made for all of them").isLessThanOrEqualTo(PLACES + POLLERS);
        } finally {
            System.out.println("StrangersLoadTest: %d hellos a second and %d silent sockets for %d ms"
                    .formatted(load.hellosASecond(), load.silent(), load.time().toMillis()));
            report.forEach(System.out::println);
        }
    }

    private record Phase(Connects connects, StrangerCrowd.Tally tally, long mostHalfOpen) {}

    private static Phase phase(
            String name,
            Load load,
            StrangerCrowd.Plan plan,
            TransferEngine honest,
            StrangersTarget target,
            List<String> report)
            throws IOException {
        target.ask("forget");
        long directBefore = target.number("direct");
        Connects connects = new Connects();
        long mostHalfOpen;
        StrangerCrowd.Tally tally;
        try (StrangerCrowd crowd =
                new StrangerCrowd(program, target.socketAddress().getPort(), plan)) {
            connects.addFor(load.time(), honest, target);
            // not of those that leave at the end, whose addresses are not to be had any more
            mostHalfOpen = target.number("most-half-open");
            tally = crowd.leave();
        }
        report.add(row(name, target, connects, directBefore, mostHalfOpen));
        if (load.hellosASecond() > 0) {
            report.add("    strangers: %d hellos/s, refused: authentication %d, rate %d, half-open %d, all %d;"
                    .formatted(
                            tally.reachedASecond(),
                            tally.refused(Rejection.AUTHENTICATION),
                            tally.refused(Rejection.RATE),
                            tally.refused(Rejection.HALF_OPEN),
                            tally.refused()));
            report.add("        %d closed without a word, %d not connected; silent ones came %d times"
                    .formatted(
                            tally.count("without-a-word"), tally.count("not-connected"), tally.count("silent-came")));
            report.add("    the engine's count: " + target.ask("refused"));
        }
        connects.reasons().forEach((reason, count) -> report.add("    refused " + count + ": " + reason));
        return new Phase(connects, tally, mostHalfOpen);
    }

    /** Once the strangers have left, the honest peer is served as before. */
    private static void assertCalm(TransferEngine honest, StrangersTarget target) {
        // and go on not to be, as those that wait may take their places once more
        AtomicInteger inARow = new AtomicInteger();
        Patience.until("no socket is half-open", () -> {
            inARow.set(target.number("half-open") == 0 ? inARow.get() + 1 : 0);
            return inARow.get() > 50;
        });
        Connects connects = new Connects();
        for (int i = 0; i < CALM_CONNECTS; i++) {
            connects.add(honest, target);
        }
        assertThat(connects.refused).isEmpty();
    }

    @Test
    void someSeconds() throws IOException {
        // so few silent ones that the honest peer's turn comes soon, and more than there are places
        run(new Load(Duration.ofMillis(1000), 2000, 300), ForkedJava.startOptions());
    }

    @Test
    @Tag("soak")
    void wholeRun() throws IOException {
        run(new Load(Duration.ofSeconds(25), 12_000, 1000), List.of());
    }
}
