package io.sluice.engine.flow;

/**
 * Asks for the end of a run of a transfer.
 *
 * @param transfer which
 * @param run which of its runs
 */
record CancelRequest(FlowTransfer transfer, int run) implements FlowTask {}
