package io.sluice.engine.flow;

/**
 * Somebody wants a run of a transfer to end.
 *
 * @param transfer which
 * @param run which of its runs
 */
record CancelRequest(FlowTransfer transfer, int run) implements FlowTask {}
