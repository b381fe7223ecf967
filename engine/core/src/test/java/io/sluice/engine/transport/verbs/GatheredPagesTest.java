package io.sluice.engine.transport.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.testkit.Patience;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Pages that follow each other at the target share work requests, as many as the device takes pieces of memory. */
@Tag("verbs")
class GatheredPagesTest {
    private static final int PAGES = GatheredPages.PAGES;

    private static GatheredPages open() {
        return new GatheredPages(VerbsUnderTest.between(TestDevices.get(0), TestDevices.get(1)));
    }

    private static int[] ascending() {
        return IntStream.range(0, PAGES).toArray();
    }

    private static int[] descending() {
        return IntStream.range(0, PAGES).map(i -> PAGES - 1 - i).toArray();
    }

    @Test
    void piecesOfAsManyPagesAsFitAreOneRequest() {
        try (GatheredPages pages = open()) {
            assertThat(pages.write(descending(), ascending())).isEqualTo(PAGES / GatherElements.MOST);
            assertThat(pages.read(descending(), ascending())).isEqualTo(PAGES / GatherElements.MOST);
            assertThat(pages.pair().connection().window().maxOperationsSeen()).isEqualTo(1);
            Patience.until(
                    "the credits are back",
                    () -> pages.pair().connection().window().bytes() == 0);
        }
    }

    @Test
    void pagesThatFollowEachOtherHereAreOnePiece() {
        // pairs, in descending order
        int[] pairs = IntStream.range(0, PAGES)
                .map(i -> PAGES - 2 - i / 2 * 2 + i % 2)
                .toArray();
        try (GatheredPages pages = open()) {
            assertThat(pages.write(pairs, ascending())).isEqualTo(PAGES / 2 / GatherElements.MOST);
            assertThat(pages.read(pairs, ascending())).isEqualTo(PAGES / 2 / GatherElements.MOST);
        }
    }

    @Test
    void pagesThatAreApartAtTheTargetAreRequestsOfTheirOwn() {
        try (GatheredPages pages = open()) {
            assertThat(pages.write(ascending(), descending())).isEqualTo(PAGES);
            assertThat(pages.read(ascending(), descending())).isEqualTo(PAGES);
        }
    }

    @Test
    void runsOfAnyLengthArrive() {
        Random random = new Random(7);
        try (GatheredPages pages = open()) {
            for (int round = 0; round < 50; round++) {
                int[] here = runs(random);
                int[] there = runs(random);
                assertThat(pages.write(here, there)).isBetween(1L, (long) PAGES);
                assertThat(pages.read(here, there)).isBetween(1L, (long) PAGES);
            }
        }
    }

    /** All pages in runs of 1 to 24, which are in any order. */
    private static int[] runs(Random random) {
        List<int[]> runs = new ArrayList<>();
        for (int at = 0; at < PAGES; ) {
            int first = at;
            at = Math.min(PAGES, at + 1 + random.nextInt(24));
            runs.add(IntStream.range(first, at).toArray());
        }
        Collections.shuffle(runs, random);
        return runs.stream().flatMapToInt(IntStream::of).toArray();
    }

    @Test
    void whatABrokenLanePostsAgainHasItsPieces() {
        SoftAdapter adapter = SoftAdapter.get();
        Random random = new Random(11);
        int mark = adapter.mark();
        try (GatheredPages pages = open()) {
            AtomicInteger rounds = new AtomicInteger();
            CompletableFuture<Void> broken = CompletableFuture.runAsync(() -> {
                for (int i = 1; i <= 10; i++) {
                    int awaited = 3 * i;
                    Patience.until("pages move", () -> rounds.get() >= awaited);
                    adapter.breakOneOf(random, mark);
                }
            });
            while (!broken.isDone()) {
                pages.write(descending(), ascending());
                pages.read(descending(), ascending());
                rounds.incrementAndGet();
            }
            Patience.await(broken);
        }
    }

    @ParameterizedTest
    @Tag("soak")
    @CsvSource({
        "SOFT_ADAPTER_SCATTER, 1, 64",
        // the device names 30, and makes no queue pair of that depth with more than 5: 4 is what halving finds
        "SOFT_ADAPTER_ELEMENTS, 2560, 16"
    })
    void devicesWithOtherLimitsGetMoreRequests(String limit, String value, long requests) {
        devicesThatTakeFewerPiecesGetMoreRequests(limit, value, requests);
    }

    @ParameterizedTest
    @CsvSource({"SOFT_ADAPTER_SCATTER, 5, 13", "SOFT_ADAPTER_ELEMENTS, 512, 64"})
    void devicesThatTakeFewerPiecesGetMoreRequests(String limit, String value, long requests) {
        SoftAdapter.get();
        List<String> outcomes = TestProcess.with(Map.of("SOFT_ADAPTER_DEVICES", "2", limit, value))
                .run(GatheredPages.OUTCOME, GatheredPages.class);
        assertThat(outcomes).containsExactly(String.valueOf(requests), String.valueOf(requests));
    }
}
