/** Integrates with BlockHound, which is optional; not exported. */
@NullMarked
package io.sluice.reactor.blockhound;

import org.jspecify.annotations.NullMarked;
