/** Runs plans on the loop of a team, in order within a channel, and ends them when a rank is lost. */
@NullMarked
package io.sluice.collectives.run;

import org.jspecify.annotations.NullMarked;
