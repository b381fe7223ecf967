/** Messages between two ranks of a team: slots in the receiver's memory, filled by writes with signals. */
@NullMarked
package io.sluice.collectives.link;

import org.jspecify.annotations.NullMarked;
