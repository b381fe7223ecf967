package io.sluice.engine.flow;

import io.sluice.engine.CompletionEvent;
import io.sluice.engine.Connection;
import io.sluice.engine.SluiceException;
import io.sluice.engine.StartEvent;

/** The flow of a transfer, as the transfer sees it. A class, so that these methods need not be public in the flow. */
abstract class OwningFlow {
    // ---- any thread ----

    abstract Connection connection();

    abstract FlowMailbox mailbox();

    abstract FlowFigures figures();

    /** Submits a transfer that the calling thread holds. */
    abstract void submitHeld(FlowTransfer transfer);

    /** Whether the endpoint of a path waits for a start event by itself, so that the flow need not. */
    abstract boolean ordersAfter(StartEvent event, int path);

    /** Whether the endpoint of a path lets a device complete an event, so that the flow need not. */
    abstract boolean completesInto(CompletionEvent event, int path);

    // ---- the poller ----

    /** Ends a transfer early; does nothing if it has ended. */
    abstract void endEarly(FlowTransfer transfer, SluiceException error);

    /** Called when a part of a transfer, for which later operations wait, has ended before the rest. */
    abstract void leave(WriteGroup group);

    /**
     * The bytes of a transfer were acknowledged on a path; its signal on another path waits until they are visible
     * there.
     */
    abstract void whenVisible(FlowTransfer transfer, int path);

    /** The operations that a transfer had to wait for are done. */
    abstract void unblocked(FlowTransfer transfer);
}
