package io.sluice.samples.compare;

import java.util.ArrayList;
import java.util.List;

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

    static List<String> command(List<String> launcher, List<String> command) {
        List<String> whole = new ArrayList<>(launcher);
        whole.addAll(command);
        return whole;
    }
}
