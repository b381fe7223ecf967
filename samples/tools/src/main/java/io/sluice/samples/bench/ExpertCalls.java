package io.sluice.samples.bench;

/**
 * The calls of a mode on one rank. A block is some dispatches, of which the last one's result stays, and then as many
 * combines of that. Operations run on the team's loop, all else while nothing runs.
 */
interface ExpertCalls {
    OperationLoop.Operation dispatch();

    OperationLoop.Operation combine();

    /** Writes what the experts of this rank make of the tokens that the last dispatch has brought. */
    void answer(long block);

    /** How many of the rows that the last dispatch has brought are wrong, or lacking. */
    long wrongRows(long block);

    /** How many of this rank's tokens the last combine has given a wrong sum. */
    long wrongSums(long block);

    /** Of all ranks in one dispatch: vectors that travel, those for the own rank too. */
    long vectors();
}
