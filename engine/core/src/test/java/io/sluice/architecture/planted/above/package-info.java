/** A package that the one above it depends on, and that depends on it. */
@NullMarked
package io.sluice.architecture.planted.above;

import org.jspecify.annotations.NullMarked;
