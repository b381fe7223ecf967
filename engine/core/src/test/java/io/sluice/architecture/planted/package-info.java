/** Classes in circles, for {@link io.sluice.architecture.CycleLimitsTest} to find. */
@NullMarked
package io.sluice.architecture.planted;

import org.jspecify.annotations.NullMarked;
