package io.sluice.directory;

/** The layout of keys in a store. */
final class Keys {
    private static final String HEADS = "engine/";
    private static final String CHUNKS = "regions/";

    private Keys() {}

    /** The key of a name's head; for a prefix of names, the prefix of their heads. */
    static String head(String nameOrPrefix) {
        return HEADS + nameOrPrefix;
    }

    /** The name of a head's key. */
    static String name(String headKey) {
        return headKey.substring(HEADS.length());
    }

    /**
     * The name is last: it may contain the separator. Concurrent publications may choose the same revision, and each
     * removes its own chunks only.
     */
    static String chunk(String name, long publication, long revision, int index) {
        return CHUNKS + Long.toHexString(publication) + "/" + Long.toHexString(revision) + "/" + index + "/" + name;
    }
}
