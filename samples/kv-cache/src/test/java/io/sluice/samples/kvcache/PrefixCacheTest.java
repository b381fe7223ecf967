package io.sluice.samples.kvcache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import org.junit.jupiter.api.Test;

class PrefixCacheTest {

    private static final int LAYERS = 3;

    private static PrefixCache cache(int slots) {
        return new PrefixCache(new PageGeometry(LAYERS, 64, slots));
    }

    private static RequestPlan admit(PrefixCache cache, int tokens, long... hashes) {
        PrefixCache.Admission admission = cache.admit(tokens, BlockHashes.of(hashes));
        assertThat(admission).isInstanceOf(PrefixCache.Admission.Admitted.class);
        return ((PrefixCache.Admission.Admitted) admission).plan();
    }

    private static PrefixCache.Admission.Busy refused(PrefixCache cache, int tokens, long... hashes) {
        PrefixCache.Admission admission = cache.admit(tokens, BlockHashes.of(hashes));
        assertThat(admission).isInstanceOf(PrefixCache.Admission.Busy.class);
        return (PrefixCache.Admission.Busy) admission;
    }

    /** Runs a request from its beginning to its end. */
    private static RequestPlan run(PrefixCache cache, int tokens, long... hashes) {
        RequestPlan plan = admit(cache, tokens, hashes);
        cache.complete(plan);
        cache.release(plan);
        return plan;
    }

    private static List<Integer> pageIds(RequestPlan.PlannedBlock block) {
        List<Integer> ids = new ArrayList<>();
        for (int page = 0; page < block.pages(); page++) {
            ids.add(block.pageId(page));
        }
        return ids;
    }

    private static boolean cached(PrefixCache cache, long hash) {
        PrefixCache.Admission admission = cache.admit(512, BlockHashes.of(hash));
        RequestPlan plan = ((PrefixCache.Admission.Admitted) admission).plan();
        boolean found = plan.blocks().getFirst().reusedPages() > 0;
        cache.abandon(plan);
        return found;
    }

    @Test
    void aFirstRequestMovesAllItsWholePages() {
        PrefixCache cache = cache(100);
        RequestPlan plan = admit(cache, 512 + 40, 1, 2);
        assertThat(plan.wholePages()).isEqualTo(34);
        assertThat(plan.pagesToMovePerLayer()).isEqualTo(34);
        assertThat(plan.pagesMoved()).isEqualTo(34 * LAYERS);
        assertThat(plan.pagesReused()).isZero();
        assertThat(plan.blocks()).hasSize(2);
        RequestPlan.PlannedBlock last = plan.blocks().getLast();
        assertThat(last.index()).isEqualTo(1);
        assertThat(last.hash()).isEqualTo(2);
        assertThat(last.pages()).isEqualTo(2);
        assertThat(last.movedPages()).isEqualTo(2);
        assertThat(cache.freePages()).isEqualTo(66);
        assertThat(cache.activeRequests()).isEqualTo(1);
    }

    @Test
    void aCompletedBlockIsReusedWhereItLies() {
        PrefixCache cache = cache(100);
        RequestPlan first = run(cache, 1024, 1, 2);
        RequestPlan second = admit(cache, 1024, 1, 3);
        assertThat(second.blocks().getFirst().reusedPages()).isEqualTo(32);
        assertThat(second.blocks().getFirst().movedPages()).isZero();
        assertThat(pageIds(second.blocks().getFirst()))
                .isEqualTo(pageIds(first.blocks().getFirst()));
        assertThat(second.blocks().getLast().reusedPages()).isZero();
        assertThat(second.pagesReused()).isEqualTo(32 * LAYERS);
        assertThat(second.pagesMoved()).isEqualTo(32 * LAYERS);
    }

    @Test
    void aBlockIsReusedThoughTheOneBeforeItIsNotCached() {
        PrefixCache cache = cache(100);
        run(cache, 512, 2);
        RequestPlan plan = admit(cache, 1024, 1, 2);
        assertThat(plan.blocks())
                .extracting(RequestPlan.PlannedBlock::reusedPages)
                .containsExactly(0, 32);
    }

    @Test
    void aRequestWithoutAWholePageMovesNothing() {
        PrefixCache cache = cache(1);
        RequestPlan plan = run(cache, 15, 1);
        assertThat(plan.blocks()).isEmpty();
        assertThat(plan.pagesMoved()).isZero();
        assertThat(cache.cachedBlocks()).isZero();
        assertThat(admit(cache, 0).blocks()).isEmpty();
    }

    @Test
    void aLastBlockBelowAPageIsLeftOut() {
        RequestPlan plan = admit(cache(100), 512 + 15, 1, 2);
        assertThat(plan.blocks()).hasSize(1);
        assertThat(plan.wholePages()).isEqualTo(32);
    }

    @Test
    void aPartialBlockIsExtendedByALaterRequest() {
        PrefixCache cache = cache(100);
        RequestPlan five = run(cache, 5 * 16, 1);
        RequestPlan twelve = admit(cache, 12 * 16, 1);
        RequestPlan.PlannedBlock block = twelve.blocks().getFirst();
        assertThat(block.reusedPages()).isEqualTo(5);
        assertThat(block.movedPages()).isEqualTo(7);
        assertThat(pageIds(block).subList(0, 5)).isEqualTo(pageIds(five.blocks().getFirst()));
        cache.complete(twelve);
        cache.release(twelve);
        assertThat(cache.cachedBlocks()).isEqualTo(1);
        assertThat(cache.idlePages()).isEqualTo(12);
        assertThat(run(cache, 12 * 16, 1).pagesReused()).isEqualTo(12 * LAYERS);
    }

    @Test
    void aShorterRequestReusesTheStartOfALongerBlock() {
        PrefixCache cache = cache(100);
        run(cache, 12 * 16, 1);
        RequestPlan plan = admit(cache, 5 * 16, 1);
        assertThat(plan.blocks().getFirst().reusedPages()).isEqualTo(5);
        assertThat(plan.pagesMoved()).isZero();
        assertThat(cache.idlePages()).isZero();
    }

    @Test
    void aBlockBeingReceivedIsNotOffered() {
        PrefixCache cache = cache(100);
        RequestPlan first = admit(cache, 512, 1);
        RequestPlan second = admit(cache, 512, 1);
        assertThat(second.pagesReused()).isZero();
        assertThat(pageIds(second.blocks().getFirst()))
                .doesNotContainAnyElementsOf(pageIds(first.blocks().getFirst()));
        assertThat(cache.cachedBlocks()).isZero();
    }

    @Test
    void ofTwoCopiesTheFirstToCompleteIsKept() {
        PrefixCache cache = cache(100);
        RequestPlan first = admit(cache, 512, 1);
        RequestPlan second = admit(cache, 512, 1);
        List<Integer> kept = pageIds(second.blocks().getFirst());
        cache.complete(second);
        assertThat(cache.freePages()).isEqualTo(36);
        cache.complete(first);
        assertThat(cache.freePages()).isEqualTo(68);
        assertThat(pageIds(first.blocks().getFirst())).isEqualTo(kept);
        assertThat(first.pagesMoved()).isEqualTo(32 * LAYERS);
        cache.release(second);
        assertThat(cache.idlePages()).isZero();
        cache.release(first);
        assertThat(cache.idlePages()).isEqualTo(32);
    }

    @Test
    void ofTwoExtensionsTheLongerAddsWhatTheOtherLacks() {
        PrefixCache cache = cache(100);
        run(cache, 4 * 16, 1);
        RequestPlan eight = admit(cache, 8 * 16, 1);
        RequestPlan twelve = admit(cache, 12 * 16, 1);
        List<Integer> own = pageIds(twelve.blocks().getFirst());
        cache.complete(eight);
        cache.complete(twelve);
        List<Integer> published = pageIds(twelve.blocks().getFirst());
        assertThat(published.subList(0, 8)).isEqualTo(pageIds(eight.blocks().getFirst()));
        assertThat(published.subList(8, 12)).isEqualTo(own.subList(8, 12));
        cache.release(eight);
        cache.release(twelve);
        assertThat(cache.idlePages()).isEqualTo(12);
        assertThat(cache.freePages()).isEqualTo(88);
    }

    @Test
    void ofTwoExtensionsTheShorterMayCompleteLast() {
        PrefixCache cache = cache(100);
        run(cache, 4 * 16, 1);
        RequestPlan eight = admit(cache, 8 * 16, 1);
        RequestPlan twelve = admit(cache, 12 * 16, 1);
        cache.complete(twelve);
        cache.complete(eight);
        assertThat(pageIds(eight.blocks().getFirst()))
                .isEqualTo(pageIds(twelve.blocks().getFirst()).subList(0, 8));
        cache.release(twelve);
        cache.release(eight);
        assertThat(cache.idlePages()).isEqualTo(12);
        assertThat(cache.freePages()).isEqualTo(88);
    }

    @Test
    void anAbandonedRequestLeavesNothingBehind() {
        PrefixCache cache = cache(100);
        run(cache, 512, 1);
        RequestPlan plan = admit(cache, 1024, 1, 2);
        cache.abandon(plan);
        assertThat(cache.activeRequests()).isZero();
        assertThat(cache.freePages()).isEqualTo(68);
        assertThat(cache.idlePages()).isEqualTo(32);
        assertThat(cached(cache, 1)).isTrue();
        assertThat(cached(cache, 2)).isFalse();
    }

    @Test
    void theDuplicateOfAnAbandonedRequestBecomesTheCachedBlock() {
        PrefixCache cache = cache(100);
        RequestPlan first = admit(cache, 512, 1);
        RequestPlan second = admit(cache, 512, 1);
        cache.abandon(first);
        cache.complete(second);
        cache.release(second);
        assertThat(cached(cache, 1)).isTrue();
        assertThat(cache.freePages() + cache.idlePages()).isEqualTo(100);
    }

    @Test
    void theLeastRecentlyReleasedBlockIsEvictedFirst() {
        PrefixCache cache = cache(4 * 32);
        run(cache, 512, 1);
        run(cache, 512, 2);
        run(cache, 512, 3);
        run(cache, 512, 4);
        run(cache, 512, 1);
        run(cache, 512, 5);
        assertThat(cache.evictedBlocks()).isEqualTo(1);
        assertThat(cached(cache, 1)).isTrue();
        run(cache, 512, 6);
        run(cache, 512, 7);
        assertThat(cache.evictedBlocks()).isEqualTo(3);
        assertThat(List.of(cached(cache, 1), cached(cache, 5), cached(cache, 6), cached(cache, 7)))
                .containsOnly(true);
    }

    @Test
    void ofOneRequestTheLastBlockIsEvictedFirst() {
        PrefixCache cache = cache(3 * 32);
        run(cache, 3 * 512, 1, 2, 3);
        run(cache, 512, 4);
        assertThat(cached(cache, 1)).isTrue();
        assertThat(cached(cache, 2)).isTrue();
        run(cache, 512, 5);
        assertThat(cache.cachedBlocks()).isEqualTo(3);
        assertThat(cache.evictedBlocks()).isEqualTo(2);
    }

    @Test
    void onlyAsMuchIsEvictedAsIsNeeded() {
        PrefixCache cache = cache(100);
        run(cache, 512, 1);
        run(cache, 512, 2);
        run(cache, 512, 3);
        RequestPlan plan = admit(cache, 5 * 16, 4);
        assertThat(cache.evictedBlocks()).isEqualTo(1);
        assertThat(cache.idlePages()).isEqualTo(64);
        assertThat(cache.freePages()).isEqualTo(31);
        cache.abandon(plan);
    }

    @Test
    void aBlockInUseIsNotEvicted() {
        PrefixCache cache = cache(64);
        run(cache, 512, 1);
        RequestPlan user = admit(cache, 512, 1);
        RequestPlan other = admit(cache, 512, 2);
        PrefixCache.Admission.Busy busy = refused(cache, 512, 3);
        assertThat(busy.pagesNeeded()).isEqualTo(32);
        assertThat(busy.pagesAvailable()).isZero();
        cache.complete(other);
        refused(cache, 512, 3);
        cache.release(other);
        RequestPlan third = admit(cache, 512, 3);
        assertThat(cache.evictedBlocks()).isEqualTo(1);
        cache.complete(user);
        cache.release(user);
        cache.complete(third);
        cache.release(third);
        assertThat(cached(cache, 1)).isTrue();
    }

    @Test
    void aBlockThatTheRequestItselfReusesIsNotEvictedForIt() {
        PrefixCache cache = cache(64);
        run(cache, 512, 1);
        run(cache, 512, 2);
        RequestPlan plan = admit(cache, 1024, 1, 3);
        assertThat(plan.blocks())
                .extracting(RequestPlan.PlannedBlock::reusedPages)
                .containsExactly(32, 0);
        assertThat(cache.cachedBlocks()).isEqualTo(1);
    }

    @Test
    void aRefusedRequestLeavesNoTrace() {
        PrefixCache cache = cache(3 * 32);
        run(cache, 512, 1);
        run(cache, 512, 2);
        RequestPlan busy = admit(cache, 512, 9);
        refused(cache, 3 * 512, 1, 7, 8);
        assertThat(cache.idlePages()).isEqualTo(64);
        assertThat(cache.evictedBlocks()).isZero();
        // Block 1 is still the older one: being looked at is no use.
        RequestPlan next = admit(cache, 512, 3);
        assertThat(cache.cachedBlocks()).isEqualTo(1);
        cache.abandon(next);
        cache.abandon(busy);
        assertThat(cached(cache, 2)).isTrue();
    }

    @Test
    void aRequestBiggerThanThePoolSaysHowBigItMustBe() {
        PrefixCache cache = cache(32);
        PoolTooSmallException e =
                catchThrowableOfType(PoolTooSmallException.class, () -> cache.admit(33 * 16, BlockHashes.of(1, 2)));
        assertThat(e).hasMessageContaining(" needs " + 33 * LAYERS * 64 + " bytes");
        assertThat(e).hasMessageContaining(" holds " + 32 * LAYERS * 64 + ":");
        assertThat(e).hasMessageContaining("528 tokens").hasMessageContaining("--pool 1MiB");
        assertThat(admit(cache, 512, 1).pagesMoved()).isEqualTo(32 * LAYERS);
    }

    @Test
    void thePoolSizeThatTheErrorAsksForIsEnough() {
        ModelPreset model = ModelPreset.named("deepseek-v3");
        PrefixCache cache = new PrefixCache(PageGeometry.fitting(model, 64L << 20));
        PoolTooSmallException e = catchThrowableOfType(
                PoolTooSmallException.class, () -> cache.admit(10_000, BlockHashes.of(new long[20])));
        long required = Long.parseLong(String.valueOf(e.getMessage()).replaceAll(".* needs (\\d+) bytes.*", "$1"));
        PrefixCache larger = new PrefixCache(PageGeometry.fitting(model, required));
        assertThat(larger.admit(10_000, BlockHashes.of(new long[20])))
                .isInstanceOf(PrefixCache.Admission.Admitted.class);
    }

    @Test
    void aTailThatTheRequestDoesNotNeedIsGivenUpForItsOtherBlocks() {
        PrefixCache cache = cache(32);
        run(cache, 512, 1);
        // Needs 5 pages of block 1, which has 32, and more than are free besides.
        RequestPlan plan = admit(cache, 5 * 16, 1);
        cache.abandon(plan);
        assertThat(cache.idlePages()).isEqualTo(32);
        run(cache, 10 * 16, 2);
        assertThat(cache.idlePages()).isEqualTo(10);
        run(cache, 22 * 16, 3);
        RequestPlan whole = admit(cache, 512, 2);
        assertThat(whole.blocks().getFirst().reusedPages()).isEqualTo(10);
        assertThat(whole.blocks().getFirst().movedPages()).isEqualTo(22);
    }

    @Test
    void aRequestNeverWaitsForPagesThatItPinsItself() {
        PrefixCache cache = cache(48);
        // The longest form of block 2 is cached; the request needs 16 pages of it and 32 others: all that there is.
        run(cache, 512, 2);
        RequestPlan plan = admit(cache, 512 + 16 * 16, 1, 2);
        assertThat(plan.blocks())
                .extracting(RequestPlan.PlannedBlock::reusedPages)
                .containsExactly(0, 16);
        assertThat(cache.freePages()).isZero();
        assertThat(cache.evictedBlocks()).isEqualTo(1);
        cache.complete(plan);
        cache.release(plan);
        assertThat(cache.idlePages()).isEqualTo(48);
    }

    @Test
    void aTailThatAnotherRequestReadsIsNotGivenUp() {
        PrefixCache cache = cache(48);
        run(cache, 512, 2);
        RequestPlan reader = admit(cache, 512, 2);
        refused(cache, 512 + 16 * 16, 1, 2);
        cache.abandon(reader);
        admit(cache, 512 + 16 * 16, 1, 2);
    }

    @Test
    void aHashThatOccursTwiceInARequestGetsPagesOfItsOwn() {
        PrefixCache cache = cache(100);
        RequestPlan fresh = admit(cache, 1024, 7, 7);
        assertThat(fresh.pagesMoved()).isEqualTo(64 * LAYERS);
        cache.complete(fresh);
        cache.release(fresh);
        assertThat(cache.cachedBlocks()).isEqualTo(1);
        assertThat(cache.freePages()).isEqualTo(68);
        RequestPlan again = admit(cache, 1024, 7, 7);
        assertThat(again.blocks())
                .extracting(RequestPlan.PlannedBlock::reusedPages)
                .containsExactly(32, 0);
        HashSet<Integer> ids = new HashSet<>(pageIds(again.blocks().getFirst()));
        assertThat(ids).doesNotContainAnyElementsOf(pageIds(again.blocks().getLast()));
        cache.complete(again);
        cache.release(again);
        assertThat(cache.freePages() + cache.idlePages()).isEqualTo(100);
    }

    @Test
    void aPlanEndsOnce() {
        PrefixCache cache = cache(100);
        RequestPlan plan = admit(cache, 512, 1);
        assertThatIllegalStateException().isThrownBy(() -> cache.release(plan));
        cache.complete(plan);
        assertThatIllegalStateException().isThrownBy(() -> cache.complete(plan));
        assertThatIllegalStateException().isThrownBy(() -> cache.abandon(plan));
        cache.release(plan);
        assertThatIllegalStateException().isThrownBy(() -> cache.release(plan));
        assertThat(cache.idlePages()).isEqualTo(32);
    }

    @Test
    void hashesMustMatchTheBlocks() {
        assertThatIllegalArgumentException().isThrownBy(() -> cache(100).admit(513, BlockHashes.of(1)));
        assertThatIllegalArgumentException().isThrownBy(() -> cache(100).admit(512, BlockHashes.of(1, 2)));
    }
}
