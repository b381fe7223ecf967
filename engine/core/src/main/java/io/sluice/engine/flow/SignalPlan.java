package io.sluice.engine.flow;

import io.sluice.engine.SignalOrder;
import io.sluice.engine.transport.RemoteKey;

/**
 * The checked update of a signal.
 *
 * @param remote the region that holds the signal
 * @param offset from the attached slice's start, in bytes
 * @param addend what to add
 * @param order what it comes after
 */
public record SignalPlan(RemoteKey remote, long offset, long addend, SignalOrder order) {}
