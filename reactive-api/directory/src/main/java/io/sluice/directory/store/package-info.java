/**
 * The interface of a directory to a store, for adapters to further stores. A store knows keys, values and leases, but
 * no engines.
 */
@NullMarked
package io.sluice.directory.store;

import org.jspecify.annotations.NullMarked;
