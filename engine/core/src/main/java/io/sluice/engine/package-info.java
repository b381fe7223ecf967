/**
 * The transfer engine with callbacks: regions, connections, transfers and their terminal signals.
 *
 * <p>Start at {@link io.sluice.engine.TransferEngine}. Nothing here depends on a reactive library.
 */
@NullMarked
package io.sluice.engine;

import org.jspecify.annotations.NullMarked;
