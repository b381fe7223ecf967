/** Errors of the HTTP API as problems of RFC 9457. */
@NullMarked
package io.sluice.samples.mover.problem;

import org.jspecify.annotations.NullMarked;
