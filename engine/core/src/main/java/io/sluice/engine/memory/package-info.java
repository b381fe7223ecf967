/**
 * The regions of an engine and their signals, what peers may do with them, and the messages by which they are attached,
 * looked up and summed. Internal.
 */
@NullMarked
package io.sluice.engine.memory;

import org.jspecify.annotations.NullMarked;
