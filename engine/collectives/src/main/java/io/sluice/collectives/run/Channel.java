package io.sluice.collectives.run;

import io.sluice.collectives.link.Link;
import org.jspecify.annotations.Nullable;

/** Collectives that run one after another, in the order of their numbers. All of it is the loop's. */
final class Channel {
    /** By rank; null for this one. */
    final @Nullable Link[] links;

    private @Nullable Run first;
    private @Nullable Run last;
    private boolean ready;

    Channel(@Nullable Link[] links) {
        this.links = links;
    }

    void add(Run run) {
        run.next = null;
        Run before = last;
        if (before == null) {
            first = run;
        } else {
            before.next = run;
        }
        last = run;
        ready = true;
    }

    /** The run that is taking steps, or will. */
    @Nullable
    Run current() {
        return first;
    }

    /** Removes the current run. */
    void next() {
        Run ended = first;
        if (ended != null) {
            first = ended.next;
            ended.next = null;
            if (first == null) {
                last = null;
            }
            ready = true;
        }
    }

    void ready() {
        ready = true;
    }

    /** Whether there may be something to do: after {@link #ready()}, or if what is looked for has come. */
    boolean takeReady() {
        boolean was = ready;
        ready = false;
        return was || isReady();
    }

    /** Whether what the current run looks for has come. */
    boolean isReady() {
        Run run = first;
        return run != null && run.isReady(links);
    }

    /** Whether the current run looks for what peers store or write. */
    boolean looks() {
        Run run = first;
        return run != null && run.looks();
    }

    /** Nothing is looked for any more, so the current run asks to be told. */
    void sleeps() {
        Run run = first;
        if (run != null) {
            run.sleeps(links);
        }
    }

    /** Whether the current run waits for something of a rank. */
    boolean needs(int rank) {
        Run run = first;
        Link link = links[rank];
        return run != null && (run.needs(rank) || (link != null && link.firstWaiting() >= 0));
    }

    void clear() {
        first = null;
        last = null;
    }
}
