package io.sluice.engine.flow;

/** What other threads put into a flow's mailbox. */
sealed interface Mail permits FlowTransfer, Inquiry {}
