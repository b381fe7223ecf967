package io.sluice.reactor;

import io.sluice.engine.Connection;
import io.sluice.engine.TransferElement;

/** Chooses the connections of the elements of a vectored transfer. */
interface Route {
    /** Returns the connection of an element. */
    Connection connection(TransferElement element);

    /** Returns how many elements may be in flight, at least 1; called at each subscription. */
    int operationLimit();
}
