/**
 * The shared parts of several modules' fuzz tests: the loop, the damage and the corpus. Compiled among each module's
 * tests.
 */
package io.sluice.fuzz;
