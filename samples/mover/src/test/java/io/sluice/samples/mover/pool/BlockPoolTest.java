package io.sluice.samples.mover.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.engine.EngineOptions;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.TransferEngine;
import io.sluice.samples.kvcache.ModelPreset;
import io.vertx.core.json.JsonObject;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class BlockPoolTest {

    private static final PoolLayout LAYOUT = new PoolLayout(3, 1000, 5, 4);

    private TransferEngine engine;
    private BlockPool pool;

    @BeforeEach
    void open() {
        engine = TransferEngine.open(EngineOptions.builder().noListener().build());
        pool = new BlockPool(
                "kv",
                1,
                LAYOUT,
                engine.allocate(LAYOUT.pagesBytes(), RegionOptions.local()),
                engine.allocate(LAYOUT.sealsBytes(), RegionOptions.local()));
    }

    @AfterEach
    void close() {
        engine.close();
    }

    private int add(long hash) {
        int slot = pool.reserve();
        BlockContent.fill(pool, hash, slot);
        pool.admit(hash, slot);
        return slot;
    }

    @Test
    void whatWasNotUsedForTheLongestTimeMakesRoom() {
        for (long hash = 1; hash <= 4; hash++) {
            add(hash);
        }
        pool.unpin(pool.pin(1) == BlockPool.NONE ? -1 : 1);
        add(5);
        assertThat(pool.has(2)).isFalse();
        assertThat(pool.hashes(0, 10)).containsExactly(3L, 4L, 1L, 5L);
        assertThat(pool.hashes(1, 2)).containsExactly(4L, 1L);
    }

    @Test
    void whatIsReadOrWrittenStays() {
        for (long hash = 1; hash <= 4; hash++) {
            add(hash);
        }
        for (long hash = 1; hash <= 3; hash++) {
            assertThat(pool.pin(hash)).isNotNegative();
        }
        int coming = pool.reserve();
        assertThat(coming).isNotNegative();
        assertThat(pool.reserve()).isEqualTo(BlockPool.NONE);
        assertThat(pool.isInUse()).isTrue();
        pool.giveBack(coming);
        pool.unpin(1);
        pool.unpin(2);
        pool.unpin(3);
        assertThat(pool.isInUse()).isFalse();
        assertThat(pool.pin(4)).isEqualTo(BlockPool.NONE);
    }

    @Test
    void aBlockThatComesTwiceIsThereOnce() {
        int first = pool.reserve();
        int second = pool.reserve();
        pool.admit(7, first);
        pool.admit(7, second);
        assertThat(pool.size()).isEqualTo(1);
        assertThat(pool.pin(7)).isEqualTo(first);
        for (int i = 0; i < 3; i++) {
            assertThat(pool.reserve()).isNotNegative();
        }
        assertThat(pool.reserve()).isEqualTo(BlockPool.NONE);
    }

    @Test
    void blocksDoNotOverlapAndEachDamagedPageIsFound() {
        int[] slots = new int[LAYOUT.blocks()];
        for (int i = 0; i < slots.length; i++) {
            slots[i] = add(i);
        }
        for (int i = 0; i < slots.length; i++) {
            assertThat(BlockContent.corruptedPages(pool, i, slots[i])).isZero();
            assertThat(BlockContent.corruptedPages(pool, i + 1, slots[i]))
                    .isEqualTo(LAYOUT.pagesPerBlock() * LAYOUT.layers());
        }
        long last = LAYOUT.pieceOffset(2, slots[1]) + LAYOUT.pieceBytes() - 1;
        byte was = pool.pages().segment().get(ValueLayout.JAVA_BYTE, last);
        pool.pages().segment().set(ValueLayout.JAVA_BYTE, last, (byte) (was ^ 1));
        assertThat(BlockContent.corruptedPages(pool, 1, slots[1])).isEqualTo(1);
        assertThat(BlockContent.corruptedPages(pool, 0, slots[0])).isZero();
    }

    @Test
    void aLayoutIsAskedForByModelOrByPages() {
        PoolLayout model =
                PoolLayout.asked(new JsonObject().put("model", "qwen2.5-0.5b").put("blocks", 2));
        assertThat(model).isEqualTo(PoolLayout.of(ModelPreset.named("qwen2.5-0.5b"), 2));
        assertThat(PoolLayout.fromJson(model.toJson())).isEqualTo(model);
        assertThat(PoolLayout.asked(new JsonObject().put("pageBytes", 4096).put("blocks", 2)))
                .isEqualTo(new PoolLayout(1, 4096, 1, 2));
        assertThatThrownBy(() -> PoolLayout.asked(new JsonObject().put("blocks", 2)))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new PoolLayout(1, 1 << 20, 1 << 12, 1)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new PoolLayout(1, 1, 1 << 16, 1 << 16)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void hashesAreTextsOfSixteenDigits() {
        assertThat(BlockHash.text(255)).isEqualTo("00000000000000ff");
        assertThat(BlockHash.parse(BlockHash.text(-2))).isEqualTo(-2);
        assertThatThrownBy(() -> BlockHash.parse("0x12")).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> BlockHash.parse("11112222333344445")).isInstanceOf(IllegalArgumentException.class);
    }
}
