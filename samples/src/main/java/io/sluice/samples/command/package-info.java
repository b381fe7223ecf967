/** The commands of the {@code sluice} program: their options, what they print, and how they end. */
@NullMarked
package io.sluice.samples.command;

import org.jspecify.annotations.NullMarked;
