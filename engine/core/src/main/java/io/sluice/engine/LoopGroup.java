package io.sluice.engine;

/**
 * A group of connections that belong together, such as those of one ring or team. In each engine one {@link EngineLoop}
 * drives all connections of a group, regardless of peer and of the side that connected, so work that spans them needs
 * no queue between threads. A group is a value: it needs no creation or release, and engines agree on one by its
 * number.
 *
 * <p>The loop's number is {@code id mod pollers}, or another if that loop has failed. Groups with consecutive ids use
 * different loops if there are enough ({@link EngineOptions#pollers()}).
 *
 * @param id any 64 bits
 */
public record LoopGroup(long id) {}
