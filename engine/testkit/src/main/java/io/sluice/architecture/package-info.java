/** Limits how classes and packages may depend on each other in circles, for the tests of all modules. */
@NullMarked
package io.sluice.architecture;

import org.jspecify.annotations.NullMarked;
