package io.sluice.samples.compare;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Instant;

/**
 * What a run was, besides its figures.
 *
 * @param version of this program
 * @param started when it began
 * @param command the command line that began it
 * @param machine facts about the machine, an object
 * @param timing how often and how long was measured
 * @param where on which processors the two sides ran, in words
 */
public record RunDescription(
        String version, Instant started, String command, JsonNode machine, Timing timing, String where) {}
