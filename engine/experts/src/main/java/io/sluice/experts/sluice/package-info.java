/** The back end that is always there: the engine's own transports. */
@NullMarked
package io.sluice.experts.sluice;

import org.jspecify.annotations.NullMarked;
