package io.sluice.directory;

import java.util.ArrayList;
import java.util.List;

/**
 * The distribution of an entry's regions over chunks. Regions are sorted by name.
 *
 * @param firstNames the name of the first region of each chunk
 * @param counts the number of regions in each chunk
 */
record ChunkIndex(List<String> firstNames, List<Integer> counts) {
    static final ChunkIndex EMPTY = new ChunkIndex(List.of(), List.of());

    ChunkIndex {
        firstNames = List.copyOf(firstNames);
        counts = List.copyOf(counts);
    }

    int size() {
        return firstNames.size();
    }

    int regionCount() {
        return counts.stream().mapToInt(Integer::intValue).sum();
    }

    /** Returns the chunks that may contain regions whose names have this prefix, in order. */
    List<Integer> withPrefix(String prefix) {
        List<Integer> found = new ArrayList<>();
        for (int i = 0; i < size(); i++) {
            boolean beginsBehind = firstNames.get(i).compareTo(prefix) > 0
                    && !firstNames.get(i).startsWith(prefix);
            boolean endsBefore = i + 1 < size() && firstNames.get(i + 1).compareTo(prefix) <= 0;
            if (!beginsBehind && !endsBefore) {
                found.add(i);
            }
        }
        return found;
    }

    /** Returns the one chunk that may contain this region, or -1. */
    int of(String region) {
        int found = -1;
        for (int i = 0; i < size() && firstNames.get(i).compareTo(region) <= 0; i++) {
            found = i;
        }
        return found;
    }
}
