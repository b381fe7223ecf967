/** What the fuzz tests of several modules share: the loop, the damage and the corpus. Compiled among each module's tests. */
package io.sluice.fuzz;
