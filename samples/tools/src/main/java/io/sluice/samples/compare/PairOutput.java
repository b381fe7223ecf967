package io.sluice.samples.compare;

import org.jspecify.annotations.Nullable;

/**
 * What two processes that met have told, and used.
 *
 * @param output what the initiator has printed
 * @param initiatorProcessors how many processors the initiator kept busy; {@code null} if it was too short to tell
 * @param targetProcessors the same of the target
 */
record PairOutput(
        String output,
        @Nullable Double initiatorProcessors,
        @Nullable Double targetProcessors) {}
