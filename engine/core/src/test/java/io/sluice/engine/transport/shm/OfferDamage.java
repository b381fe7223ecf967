package io.sluice.engine.transport.shm;

import java.util.Arrays;
import java.util.Random;

/** Bytes that were right, and are not any more. */
final class OfferDamage {
    private OfferDamage() {}

    static byte[] of(byte[] right, Random random) {
        byte[] bytes = right.clone();
        switch (random.nextInt(4)) {
            case 0 -> bytes[random.nextInt(bytes.length)] ^= (byte) (1 << random.nextInt(8));
            case 1 -> bytes = Arrays.copyOf(bytes, random.nextInt(bytes.length + 20));
            case 2 -> {
                for (int i = random.nextInt(8); i >= 0; i--) {
                    bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
                }
            }
            default -> {
                bytes = new byte[random.nextInt(200)];
                random.nextBytes(bytes);
                if (bytes.length > 0 && random.nextBoolean()) {
                    bytes[0] = right[0];
                }
            }
        }
        return bytes;
    }
}
