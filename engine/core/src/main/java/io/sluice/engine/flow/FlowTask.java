package io.sluice.engine.flow;

/** What other threads put into a flow's mailbox. A run of a transfer is there once: to be submitted. */
interface FlowTask {}
