/** The other movers: who they are, and what is agreed with each before bytes move. */
@NullMarked
package io.sluice.samples.mover.peer;

import org.jspecify.annotations.NullMarked;
