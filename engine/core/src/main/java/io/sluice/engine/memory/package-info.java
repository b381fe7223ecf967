/**
 * The regions of an engine, their signals, the rights of peers, and the messages for attaching, looking up and
 * checksums. Internal.
 */
@NullMarked
package io.sluice.engine.memory;

import org.jspecify.annotations.NullMarked;
