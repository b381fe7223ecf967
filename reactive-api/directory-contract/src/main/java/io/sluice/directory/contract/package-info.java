/**
 * What every directory must pass: extend {@link io.sluice.directory.contract.DirectoryContract} and say how to start the
 * store.
 */
@NullMarked
package io.sluice.directory.contract;

import org.jspecify.annotations.NullMarked;
