/**
 * What a directory needs of a place to keep entries in; for those who adapt another one. A store knows keys, values and
 * leases, and nothing of engines.
 */
@NullMarked
package io.sluice.directory.store;

import org.jspecify.annotations.NullMarked;
