/**
 * The transports that there are, those that an engine has opened, and the names of the variables that set engines up.
 * Internal.
 */
@NullMarked
package io.sluice.engine.providers;

import org.jspecify.annotations.NullMarked;
