/** Collectives that read the other ranks' mapped memory. */
@NullMarked
package io.sluice.collectives.mapped;

import org.jspecify.annotations.NullMarked;
