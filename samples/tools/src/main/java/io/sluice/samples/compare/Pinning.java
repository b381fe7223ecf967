package io.sluice.samples.compare;

import io.sluice.jni.MachineFacts;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.stream.Collectors;

/**
 * On which processors processes run, each from its beginning.
 *
 * @param initiator what starts a process on those of the side that measures
 * @param target the same for the side with the memory
 * @param ownOptions options of {@code sluice bench} for the same
 * @param isShared whether both sides have one processor, the same
 */
public record Pinning(List<String> initiator, List<String> target, List<String> ownOptions, boolean isShared) {
    public Pinning {
        initiator = List.copyOf(initiator);
        target = List.copyOf(target);
        ownOptions = List.copyOf(ownOptions);
    }

    /** All that ranks are bound to, in turn, as their numbers. */
    BitSet processors() {
        BitSet numbers = new BitSet();
        for (List<String> launcher : List.of(initiator, target)) {
            if (!launcher.isEmpty()) {
                numbers.or(MachineFacts.processors(launcher.getLast()));
            }
        }
        return numbers;
    }

    /** The same, separated by commas. */
    String processorList() {
        return processors().stream().mapToObj(Integer::toString).collect(Collectors.joining(","));
    }

    static List<String> command(List<String> launcher, List<String> command) {
        List<String> whole = new ArrayList<>(launcher);
        whole.addAll(command);
        return whole;
    }
}
