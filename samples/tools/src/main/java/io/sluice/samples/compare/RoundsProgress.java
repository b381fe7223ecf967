package io.sluice.samples.compare;

import java.io.PrintWriter;
import java.time.Duration;

/** Shows how far the rounds have come: on a terminal in one line that is rewritten, elsewhere in a line for each round. */
public final class RoundsProgress {
    private static final long SECONDS_PER_MINUTE = 60;

    private final PrintWriter err;
    private final boolean terminal;
    private int lastLength;

    public RoundsProgress(PrintWriter err, boolean terminal) {
        this.err = err;
        this.terminal = terminal;
    }

    PrintWriter err() {
        return err;
    }

    void begin(int measurements, int rounds, Duration expected) {
        line("sluice: " + measurements + (measurements == 1 ? " measurement" : " measurements") + " in "
                + (rounds == 1 ? "one round" : "each of " + rounds + " rounds") + ", about " + text(expected));
    }

    private static String text(Duration time) {
        long seconds = Math.max(1, time.toSeconds());
        return seconds < 2 * SECONDS_PER_MINUTE
                ? seconds + " s"
                : Math.ceilDiv(seconds, SECONDS_PER_MINUTE) + " minutes";
    }

    void beginRound(int round, int rounds, Duration elapsed) {
        if (!terminal) {
            line("sluice: round " + round + " of " + rounds + left(round, rounds, elapsed));
        }
    }

    /** Returns the remaining time at the pace of the rounds so far; empty in the first round. */
    private static String left(int round, int rounds, Duration elapsed) {
        int measured = round - 1;
        return measured == 0
                ? ""
                : ", about " + text(elapsed.dividedBy(measured).multipliedBy(rounds - measured)) + " left";
    }

    void measuring(int round, int rounds, String label) {
        if (terminal) {
            rewrite("round " + round + " of " + rounds + ": " + label);
        }
    }

    void failed(String why) {
        end();
        line("sluice: " + why);
    }

    void end() {
        if (terminal && lastLength > 0) {
            rewrite("");
            err.print("\r");
            err.flush();
        }
    }

    private void rewrite(String text) {
        // Blanks over what a longer line has left behind; no escape sequences, which not every terminal knows.
        err.print("\r" + text + " ".repeat(Math.max(0, lastLength - text.length())));
        err.flush();
        lastLength = text.length();
    }

    private void line(String text) {
        err.println(text);
        err.flush();
    }
}
