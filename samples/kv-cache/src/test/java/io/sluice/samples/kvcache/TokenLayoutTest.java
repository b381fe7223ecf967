package io.sluice.samples.kvcache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class TokenLayoutTest {

    @Test
    void aBlockHoldsThirtyTwoPages() {
        assertThat(TokenLayout.BLOCK_PAGES).isEqualTo(32);
    }

    @ParameterizedTest
    @CsvSource({
        "0, 0, 0",
        "1, 1, 0",
        "15, 1, 0",
        "16, 1, 1",
        "511, 1, 31",
        "512, 1, 32",
        "513, 2, 32",
        "528, 2, 33",
        "6758, 14, 422",
        "2147483647, 4194304, 134217727"
    })
    void countsBlocksAndWholePages(int tokens, int blocks, int pages) {
        assertThat(TokenLayout.blocks(tokens)).isEqualTo(blocks);
        assertThat(TokenLayout.wholePages(tokens)).isEqualTo(pages);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 15, 16, 17, 511, 512, 513, 527, 528, 1024, 6758, 126_195})
    void pagesOfTheBlocksAddUpToTheWholePages(int tokens) {
        int sum = 0;
        for (int block = 0; block < TokenLayout.blocks(tokens); block++) {
            int pages = TokenLayout.pagesOfBlock(tokens, block);
            assertThat(pages).isBetween(0, 32);
            if (block < TokenLayout.blocks(tokens) - 1) {
                assertThat(pages).isEqualTo(32);
            }
            sum += pages;
        }
        assertThat(sum).isEqualTo(TokenLayout.wholePages(tokens));
    }

    @Test
    void refusesWhatDoesNotExist() {
        assertThatIllegalArgumentException().isThrownBy(() -> TokenLayout.blocks(-1));
        assertThatIllegalArgumentException().isThrownBy(() -> TokenLayout.wholePages(-1));
        assertThatThrownBy(() -> TokenLayout.pagesOfBlock(512, 1)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> TokenLayout.pagesOfBlock(512, -1)).isInstanceOf(IndexOutOfBoundsException.class);
    }
}
