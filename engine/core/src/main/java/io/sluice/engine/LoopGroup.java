package io.sluice.engine;

/**
 * Connections that belong together, such as those of one ring or team: all that name the same group are driven by one
 * {@link EngineLoop} in each engine, whichever side has connected and for all peers, so that work that spans them
 * needs no queue between threads. A group is a value: nothing has to be made or given back, and engines agree on one by
 * its number.
 *
 * <p>The loop is the one with the number {@code id mod pollers} (another one if that has failed): groups with consecutive ids
 * are on different loops as far as there are enough ({@link EngineOptions#pollers()}).
 *
 * @param id any 64 bits
 */
public record LoopGroup(long id) {}
