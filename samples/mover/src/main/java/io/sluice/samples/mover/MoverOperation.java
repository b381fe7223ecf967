package io.sluice.samples.mover;

/** What a mover does when it is asked over the event bus; the bodies are those of the HTTP API. */
enum MoverOperation {
    /** Whether it lives, and whether it can be used. */
    HEALTH,
    /** What it is. */
    DESCRIBE,
    /** The others. */
    PEERS,
    /** Its pools. */
    POOLS,
    /** One more pool. */
    REGISTER_POOL,
    /** One pool less: {@code pool}. */
    CLOSE_POOL,
    /** Blocks to be computed: {@code pool}, and {@code blocks} or {@code count} and {@code seed}. */
    COMPUTE,
    /** The blocks of a pool, here or at a {@code peer}. */
    BLOCKS,
    /** All moves. */
    MOVES,
    /** One move: {@code id}. */
    MOVE,
    /** One more move. */
    SUBMIT,
    /** A move less: {@code id}. */
    CANCEL,
    /** Out of the directory, for good; what runs goes on. */
    LEAVE
}
