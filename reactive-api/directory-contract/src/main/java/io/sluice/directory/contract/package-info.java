/**
 * The contract suite for directories: extend {@link io.sluice.directory.contract.DirectoryContract} and {@link
 * io.sluice.directory.contract.DirectoryFailureContract}, and start the store.
 */
@NullMarked
package io.sluice.directory.contract;

import org.jspecify.annotations.NullMarked;
