/** Runs the stress tests of a module. */
@NullMarked
package io.sluice.stress;

import org.jspecify.annotations.NullMarked;
