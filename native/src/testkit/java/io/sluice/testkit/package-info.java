/** Test support for all modules: waits, ports, and programs of documentation pages. */
@NullMarked
package io.sluice.testkit;

import org.jspecify.annotations.NullMarked;
