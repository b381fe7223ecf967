/** How long the tests of all modules wait. */
@NullMarked
package io.sluice.testkit;

import org.jspecify.annotations.NullMarked;
