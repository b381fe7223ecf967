package io.sluice.samples.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import org.junit.jupiter.api.Test;

class CorpusTest {
    @Test
    void theNovelHasALineForEachParagraph() throws IOException {
        Corpus novel = Corpus.novel();
        assertThat(novel.vocabulary()).hasSize(73).startsWith("\n !\"");
        assertThat(novel.training().length + novel.heldOut().length).isBetween(270_000, 280_000);
        assertThat(text(novel, novel.training()))
                .startsWith(
                        "Chapter 1\nIt is a truth universally acknowledged, that a single man in possession of a good"
                                + " fortune, must be in want of a wife.\nHowever little");
        assertThat(text(novel, novel.heldOut())).endsWith("asked to dine at Rosings the next day.");
    }

    private static String text(Corpus corpus, int[] numbers) {
        StringBuilder text = new StringBuilder();
        for (int number : numbers) {
            text.append(corpus.vocabulary().charAt(number));
        }
        return text.toString();
    }

    @Test
    void theLastTenthIsHeldOut() {
        Corpus corpus = Corpus.of("abababababababababac");
        assertThat(corpus.vocabulary()).isEqualTo("abc");
        assertThat(corpus.training()).hasSize(18).containsOnly(0, 1);
        assertThat(corpus.heldOut()).containsExactly(0, 2);
    }

    @Test
    void theTableOfPairsCountsThoseOfTheOtherText() {
        Corpus corpus = Corpus.of("ab".repeat(45) + "abababacab");
        // After a came b 45 times; there are three characters, and each may come.
        double b = 45.1 / 45.3;
        double c = 0.1 / 45.3;
        double a = 44.1 / 44.3;
        double aAfterC = 1 / 3.0;
        double expected = -(4 * Math.log(b) + Math.log(c) + 3 * Math.log(a) + Math.log(aAfterC)) / 9;
        assertThat(corpus.bigramLoss()).isCloseTo(expected, within(1e-12));
    }

    @Test
    void sequencesAreTheSameForTheSameNumbers() throws IOException {
        Corpus novel = Corpus.novel();
        int[] sequence = novel.sequence(1, 2, 3, 50);
        assertThat(novel.sequence(1, 2, 3, 50)).isEqualTo(sequence).hasSize(50);
        assertThat(novel.sequence(1, 2, 4, 50)).isNotEqualTo(sequence);
        assertThat(novel.sequence(1, 3, 3, 50)).isNotEqualTo(sequence);
        assertThat(novel.sequence(2, 2, 3, 50)).isNotEqualTo(sequence);
    }
}
