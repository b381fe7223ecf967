/** For those who look for blocking calls with BlockHound, which is not there otherwise; exported to nobody. */
@NullMarked
package io.sluice.reactor.blockhound;

import org.jspecify.annotations.NullMarked;
