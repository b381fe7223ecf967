package io.sluice.samples.experts;

import java.util.SplittableRandom;

/** The tokens of a text: of each place the characters before it, as a vector, and the character there. Any thread. */
final class TextTokens {
    /** Channels that a character has in a token's vector. */
    static final int OF_A_CHARACTER = 16;

    /** Characters that a token consists of; the last of them comes first in its vector. */
    static final int CHARACTERS = Expert.WIDTH / OF_A_CHARACTER;

    private final short[][] codes;

    TextTokens(int vocabulary, long seed) {
        SplittableRandom random = new SplittableRandom(seed ^ 0x9E3779B97F4A7C15L);
        codes = new short[vocabulary][OF_A_CHARACTER];
        for (short[] code : codes) {
            for (int i = 0; i < code.length; i++) {
                code[i] = Bfloat16.of((float) random.nextGaussian());
            }
        }
    }

    /** The vector of a place of a text, which has at least {@link #CHARACTERS} characters before it. */
    short[] token(int[] text, int place) {
        short[] token = new short[Expert.WIDTH];
        for (int i = 0; i < CHARACTERS; i++) {
            System.arraycopy(codes[text[place - 1 - i]], 0, token, i * OF_A_CHARACTER, OF_A_CHARACTER);
        }
        return token;
    }
}
