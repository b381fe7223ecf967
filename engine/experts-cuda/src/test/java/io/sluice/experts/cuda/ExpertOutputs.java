package io.sluice.experts.cuda;

/** What experts make of tokens in tests: bfloat16 that depend on expert, rank and token, and on a salt. */
enum ExpertOutputs {
    /** With exponents near that of 1. */
    NEAR_ONE {
        @Override
        short of(int expert, int source, int token, int channel, int salt) {
            return nearOne(expert, source, token, channel, salt);
        }
    },

    /** In LogFMT some are copied, and others encoded: near to each other, far apart, and with zeros and denormal numbers. */
    OF_ALL_SIZES {
        @Override
        short of(int expert, int source, int token, int channel, int salt) {
            short near = nearOne(expert, source, token, channel, salt);
            int mixed = (near * 0x9E3779B9 + channel * 0x85EBCA6B) >>> 7;
            int exponent = switch ((expert + token + channel / 512) % 4) {
                case 0 -> channel % 511 == 7 ? 0xFF : 120 + mixed % 9;
                case 1 -> 119 + mixed % 8;
                case 2 -> 60 + mixed % 67;
                default -> mixed % 3 == 0 ? 0 : 1 + mixed % 126;
            };
            boolean isZero = exponent == 0 && mixed % 2 == 0;
            return (short) (near & (isZero ? 0x8000 : 0x807F) | exponent << 7);
        }
    };

    abstract short of(int expert, int source, int token, int channel, int salt);

    private static short nearOne(int expert, int source, int token, int channel, int salt) {
        long seed = ((expert * 1009L + source) * 1009 + token) * 1009 + salt;
        int bits = (int) ((seed * 65_537 + channel) * 0x9E3779B97F4A7C15L >>> 40);
        return (short) (bits & 0x807F | (121 + (bits >>> 8 & 7)) << 7);
    }
}
