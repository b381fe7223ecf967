/** The steps of each algorithm: pure functions of rank, size and lengths, without any transfer. */
@NullMarked
package io.sluice.collectives.plan;

import org.jspecify.annotations.NullMarked;
