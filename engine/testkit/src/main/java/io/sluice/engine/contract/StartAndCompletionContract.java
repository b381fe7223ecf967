package io.sluice.engine.contract;

/** Transfers that start after an event of another party, and complete into another event. */
public interface StartAndCompletionContract extends StartEventContract, CompletionEventContract {}
