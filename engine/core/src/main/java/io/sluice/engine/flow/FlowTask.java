package io.sluice.engine.flow;

/** A task in a flow's mailbox. A run of a transfer enters it once, to be submitted. */
interface FlowTask {}
