/** Transfers as observations of Micrometer's Observation API, for users who want spans of them; needs micrometer-observation. */
@NullMarked
package io.sluice.reactor.observation;

import org.jspecify.annotations.NullMarked;
