/** The tcp transport, whose requests and completions meet faults that a seed decides. */
package io.sluice.engine.transport.faulty;
