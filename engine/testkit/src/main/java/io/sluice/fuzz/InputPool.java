package io.sluice.fuzz;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.random.RandomGenerator;

/**
 * The inputs from which the next ones are made. One that ends at a place of the parser where none has ended before is kept, so
 * that the damage works its way into the parser. Bounded.
 */
final class InputPool {
    private static final int MOST = 512;
    private static final int LONGEST = 16 << 10;

    private final List<byte[]> inputs;
    private final int firm;
    private final Set<String> places = new HashSet<>();

    InputPool(List<byte[]> first) {
        inputs = new ArrayList<>(first);
        firm = inputs.size();
    }

    byte[] next(RandomGenerator random) {
        byte[] one = inputs.get(random.nextInt(inputs.size()));
        return switch (random.nextInt(16)) {
            case 0 -> {
                byte[] noise = new byte[random.nextInt(200)];
                random.nextBytes(noise);
                yield noise;
            }
            case 1, 2 -> Mutation.splice(one, inputs.get(random.nextInt(inputs.size())), random);
            default -> Mutation.of(one, random);
        };
    }

    void ended(byte[] input, String place, RandomGenerator random) {
        if (places.add(place) && input.length <= LONGEST) {
            if (inputs.size() < MOST) {
                inputs.add(input);
            } else if (firm < MOST) {
                inputs.set(firm + random.nextInt(MOST - firm), input);
            }
        }
    }

    int places() {
        return places.size();
    }
}
