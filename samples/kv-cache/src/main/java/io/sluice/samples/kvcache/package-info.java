/**
 * A paged KV-cache as an inference node keeps it: model geometry, the pool of page slots, the prefix cache over it, and
 * page content that can be checked after a transfer.
 */
@NullMarked
package io.sluice.samples.kvcache;

import org.jspecify.annotations.NullMarked;
