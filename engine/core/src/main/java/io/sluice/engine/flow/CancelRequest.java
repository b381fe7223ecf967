package io.sluice.engine.flow;

/**
 * A request to cancel a run of a transfer.
 *
 * @param transfer the transfer
 * @param run the number of the run
 */
record CancelRequest(FlowTransfer transfer, int run) implements FlowTask {}
