package io.sluice.reactor;

import io.sluice.engine.Connection;
import io.sluice.engine.TransferElement;

/** Which way the elements of a vectored transfer go. */
interface Route {
    /** The connection that an element takes. */
    Connection connection(TransferElement element);

    /** How many elements may be under way, at least 1; asked at each subscription. */
    int operationLimit();
}
