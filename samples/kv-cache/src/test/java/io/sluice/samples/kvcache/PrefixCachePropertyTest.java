package io.sluice.samples.kvcache;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Random requests against a simulated memory: if requests are admitted, completed, released and abandoned in any
 * order, each finds its own content in its pages for as long as it runs.
 */
class PrefixCachePropertyTest {

    private static final int LAYERS = 5;
    private static final int STEPS = 6_000;
    /** Each step looks at every slot. */
    private static final int STEPS_OF_MANY_SLOTS = 1_500;

    /** The content of a page slot: the hash and page number it was written for. */
    private record Content(long hash, int page) {}

    private record Running(RequestPlan plan, boolean complete) {}

    private final Map<Integer, Content> memory = new HashMap<>();
    private final List<Running> running = new ArrayList<>();

    @ParameterizedTest
    @ValueSource(ints = {40, 64, 100, 400, 3_000})
    void everyRequestKeepsItsPages(int slots) {
        Random random = new Random(slots);
        PrefixCache cache = new PrefixCache(new PageGeometry(LAYERS, 16, slots));
        int steps = slots > 1_000 ? STEPS_OF_MANY_SLOTS : STEPS;
        for (int step = 0; step < steps; step++) {
            if (random.nextInt(5) < 2) {
                admit(cache, random, slots);
            } else if (!running.isEmpty()) {
                advance(cache, random, random.nextInt(running.size()));
            }
            check(cache, slots);
        }
        while (!running.isEmpty()) {
            advance(cache, random, 0);
            check(cache, slots);
        }
        assertThat(cache.freePages() + cache.idlePages()).isEqualTo(slots);
        assertThat(cache.activeRequests()).isZero();
    }

    private void admit(PrefixCache cache, Random random, int slots) {
        int tokens = 1 + random.nextInt(16 * Math.min(slots, 200));
        long[] hashes = new long[TokenLayout.blocks(tokens)];
        long family = random.nextInt(6);
        for (int i = 0; i < hashes.length; i++) {
            // Few hashes, so that they are shared, partial in one request and full in another, and now and then
            // repeated within one.
            hashes[i] = random.nextInt(20) == 0 ? random.nextInt(10) : family * 1000 + i;
        }
        switch (cache.admit(tokens, BlockHashes.of(hashes))) {
            case PrefixCache.Admission.Admitted(RequestPlan plan) -> {
                assertThat(plan.pagesMoved() + plan.pagesReused())
                        .isEqualTo((long) TokenLayout.wholePages(tokens) * LAYERS);
                assertThat(plan.blocks().stream()
                                .mapToInt(RequestPlan.PlannedBlock::pages)
                                .sum())
                        .isEqualTo(plan.wholePages());
                assertThat(plan.blocks().stream()
                                .mapToInt(RequestPlan.PlannedBlock::movedPages)
                                .sum())
                        .isEqualTo(plan.pagesToMovePerLayer());
                running.add(new Running(plan, false));
            }
            case PrefixCache.Admission.Busy(int needed, int available) -> {
                assertThat(needed).isGreaterThan(available);
                assertThat(running).as("a request to wait for").isNotEmpty();
            }
        }
    }

    private void advance(PrefixCache cache, Random random, int index) {
        Running request = running.remove(index);
        RequestPlan plan = request.plan();
        if (request.complete()) {
            cache.release(plan);
            return;
        }
        boolean fails = random.nextInt(4) == 0;
        for (RequestPlan.PlannedBlock block : plan.blocks()) {
            for (int page = block.reusedPages(); page < block.pages(); page++) {
                memory.put(block.pageId(page), fails ? new Content(-1, -1) : new Content(block.hash(), page));
            }
        }
        if (fails) {
            cache.abandon(plan);
        } else {
            cache.complete(plan);
            running.add(new Running(plan, true));
        }
    }

    private void check(PrefixCache cache, int slots) {
        Set<Integer> receiving = new HashSet<>();
        Set<Integer> reading = new HashSet<>();
        for (Running request : running) {
            for (RequestPlan.PlannedBlock block : request.plan().blocks()) {
                for (int page = 0; page < block.pages(); page++) {
                    int pageId = block.pageId(page);
                    if (request.complete() || page < block.reusedPages()) {
                        assertThat(memory.get(pageId)).isEqualTo(new Content(block.hash(), page));
                        reading.add(pageId);
                    } else {
                        assertThat(receiving.add(pageId))
                                .as("received by one request")
                                .isTrue();
                    }
                }
            }
        }
        assertThat(receiving).noneMatch(reading::contains);
        assertThat(receiving.size() + reading.size())
                .isLessThanOrEqualTo(slots - cache.freePages() - cache.idlePages());
        assertThat(cache.activeRequests()).isEqualTo(running.size());
    }
}
