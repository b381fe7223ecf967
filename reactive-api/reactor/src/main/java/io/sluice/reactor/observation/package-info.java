/** Observes transfers through Micrometer's Observation API, such as for spans; needs micrometer-observation. */
@NullMarked
package io.sluice.reactor.observation;

import org.jspecify.annotations.NullMarked;
