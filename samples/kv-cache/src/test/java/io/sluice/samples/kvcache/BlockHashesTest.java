package io.sluice.samples.kvcache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class BlockHashesTest {

    @Test
    void copiesWhatItIsGiven() {
        long[] source = {1, 2, 3};
        BlockHashes all = BlockHashes.of(source);
        BlockHashes two = BlockHashes.firstOf(source, 2);
        source[0] = 9;
        assertThat(all.get(0)).isEqualTo(1);
        assertThat(two).isEqualTo(BlockHashes.of(1, 2)).hasSameHashCodeAs(BlockHashes.of(1, 2));
        assertThat(two).isNotEqualTo(all).hasToString("[1, 2]");
        assertThat(all.size()).isEqualTo(3);
    }

    @Test
    void refusesMoreThanThereAre() {
        assertThatThrownBy(() -> BlockHashes.firstOf(new long[2], 3)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> BlockHashes.of(1).get(1)).isInstanceOf(IndexOutOfBoundsException.class);
    }
}
