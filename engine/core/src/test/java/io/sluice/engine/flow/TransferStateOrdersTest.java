package io.sluice.engine.flow;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.testkit.EveryOrder;
import io.sluice.testkit.EveryOrder.Actor;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * A transfer's state word in every order of its calls: threads that start it and cancel it, the poller and the completion.
 * Each call of the production class is one step, and so is each access to the mailbox.
 */
class TransferStateOrdersTest {
    private static final long MANY = 100;

    @Test
    void twoStartsMeetACancelAndTheEnd() {
        assertThat(EveryOrder.runAll(() -> {
                    Protocol protocol = new Protocol();
                    return protocol.with(
                            protocol.starter("start"), protocol.starter("start too"), protocol.canceller("cancel"));
                }))
                .isGreaterThan(MANY);
    }

    @Test
    void aCancelMeetsTheEndAndTwoRestarts() {
        assertThat(EveryOrder.runAll(() -> {
                    Protocol protocol = new Protocol();
                    return protocol.with(
                            protocol.starter("start"),
                            protocol.starter("start again").after(() -> protocol.hasBegun(0)),
                            protocol.starter("start once more").after(() -> protocol.hasBegun(1)),
                            protocol.canceller("cancel"));
                }))
                .isGreaterThan(MANY);
    }

    @Test
    void twoCancelsMeetTheEndAndARestart() {
        assertThat(EveryOrder.runAll(() -> {
                    Protocol protocol = new Protocol();
                    return protocol.with(
                            protocol.starter("start"),
                            protocol.canceller("cancel"),
                            protocol.canceller("cancel too"),
                            protocol.starter("start again").after(() -> protocol.hasBegun(0)));
                }))
                .isGreaterThan(MANY);
    }

    private static final class Run {
        private final int number;
        private int admissions;
        private int ends;
        private int cancels;

        Run(int number) {
            this.number = number;
        }
    }

    /** A task in the mailbox that admits or cancels a run. */
    private record Letter(int run, boolean cancels) {}

    /** The state word with a mailbox that only this transfer uses, in the way that the flow uses it. */
    private static final class Protocol extends TransferState implements EveryOrder.Scenario {
        private final List<Actor> actors = new ArrayList<>();
        private final List<Run> runs = new ArrayList<>();
        private final Deque<Letter> mailbox = new ArrayDeque<>();
        private int admittedRun = NO_RUN;
        private boolean mustEnd;
        private boolean posted;

        Protocol() {
            actors.add(Actor.whenever("poller", () -> mustEnd || !mailbox.isEmpty(), this::poll));
            actors.add(Actor.whenever("completion", () -> posted && !mustEnd, this::complete));
        }

        Protocol with(Actor... others) {
            actors.addAll(List.of(others));
            return this;
        }

        boolean hasBegun(int run) {
            return runs.size() > run;
        }

        Actor starter(String name) {
            return Actor.of(
                    name,
                    () -> {
                        boolean held = hold();
                        if (held) {
                            assertThat(posted)
                                    .as("something is posted while the next run is prepared")
                                    .isFalse();
                        }
                        return held;
                    },
                    () -> {
                        int before = run();
                        beginRun();
                        assertThat(run()).as("the number of a new run").isNotEqualTo(before);
                        runs.add(new Run(run()));
                        return true;
                    },
                    () -> mailbox.add(new Letter(runs.getLast().number, false)));
        }

        Actor canceller(String name) {
            int[] run = {NO_RUN};
            return Actor.of(
                    name,
                    () -> {
                        boolean running = !hasEnded();
                        run[0] = askForCancel();
                        if (run[0] != NO_RUN) {
                            assertThat(running).isTrue();
                            assertThat(run[0]).isEqualTo(runs.getLast().number);
                            runs.getLast().cancels++;
                        }
                        return run[0] != NO_RUN;
                    },
                    () -> mailbox.add(new Letter(run[0], true)));
        }

        // ---- the poller: one step reads, the next one ends what was cancelled ----

        private void poll() {
            if (mustEnd) {
                mustEnd = false;
                if (!hasEnded()) {
                    Run run = runs.getLast();
                    assertThat(run.cancels)
                            .as("cancels of the run that is ended")
                            .isOne();
                    end(run);
                }
                return;
            }
            Letter letter = mailbox.remove();
            if (letter.cancels()) {
                mustEnd = admittedRun == letter.run() && isRunning(letter.run());
            } else {
                admittedRun = run();
                assertThat(letter.run()).as("the run that is admitted").isEqualTo(admittedRun);
                assertThat(hasEnded()).as("admitted after its end").isFalse();
                runs.getLast().admissions++;
                posted = true;
                mustEnd = isCancelRequested(admittedRun);
            }
        }

        private void complete() {
            posted = false;
            if (hasEnded()) {
                rest();
            } else {
                end(runs.getLast());
            }
        }

        private void end(Run run) {
            run.ends++;
            endRun(!posted);
        }

        // ---- the checks ----

        @Override
        public List<Actor> actors() {
            return actors;
        }

        @Override
        public void checkEnd() {
            for (Run run : runs) {
                assertThat(run.admissions).as("admissions of a run").isOne();
                assertThat(run.ends).as("ends of a run").isOne();
                assertThat(run.cancels).as("cancels that reach the poller").isLessThanOrEqualTo(1);
            }
            assertThat(hold()).as("at rest in the end").isTrue();
        }

        @Override
        protected void expired() {}
    }
}
