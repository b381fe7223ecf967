package io.sluice.samples.compare;

import io.sluice.samples.bench.Api;
import java.util.List;

/** Programs that start beside one that only says hello. */
final class StartComparisons {

    private StartComparisons() {}

    static List<Comparison> all() {
        return List.of(
                start(StartTask.INFO, false).with(Goal.atMost(5)),
                start(StartTask.FIRST_TRANSFER, false).with(Goal.atMost(10)),
                start(StartTask.INFO, true).with(Goal.atMost(5)),
                start(StartTask.FIRST_TRANSFER, true).with(Goal.atMost(10)));
    }

    private static Comparison start(StartTask task, boolean cached) {
        return new Comparison(
                new ProgramStart(task, cached),
                Api.REACTOR,
                "hello",
                new ProgramStarts(StartTask.HELLO, false),
                Quantity.LIFETIME_MILLISECONDS,
                null);
    }
}
