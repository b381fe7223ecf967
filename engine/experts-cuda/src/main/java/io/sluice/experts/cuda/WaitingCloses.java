package io.sluice.experts.cuda;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** What is closed, and waits for second halves; a buffer that has ended has none to come. Any thread. */
final class WaitingCloses {
    private final Set<CallRegions> waiting = ConcurrentHashMap.newKeySet();
    private final ExpertWords words;

    WaitingCloses(ExpertWords words) {
        this.words = words;
        words.ended().thenRun(() -> waiting.forEach(CallRegions::endWaiting));
    }

    void add(CallRegions regions) {
        waiting.add(regions);
        if (words.failure() != null) {
            regions.endWaiting();
        }
    }

    void remove(CallRegions regions) {
        waiting.remove(regions);
    }
}
