/**
 * Expert parallelism: dispatch brings each token's vector to the ranks of its experts, combine brings the weighted
 * results back.
 *
 * <p>Start at {@link io.sluice.experts.ExpertBuffer#create}.
 */
@NullMarked
package io.sluice.experts;

import org.jspecify.annotations.NullMarked;
