/**
 * The contract suite for directories: extend {@link io.sluice.directory.contract.DirectoryContract} and start the
 * store.
 */
@NullMarked
package io.sluice.directory.contract;

import org.jspecify.annotations.NullMarked;
