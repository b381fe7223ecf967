package io.sluice.directory;

/** Where things lie in a store. */
final class Keys {
    private static final String HEADS = "engine/";
    private static final String CHUNKS = "regions/";

    private Keys() {}

    /** The head of a name; of a prefix of names, the prefix of their heads. */
    static String head(String nameOrPrefix) {
        return HEADS + nameOrPrefix;
    }

    /** The name whose head this is. */
    static String name(String headKey) {
        return headKey.substring(HEADS.length());
    }

    /**
     * The name stands last: it may contain the separator. Publications that meet may choose the same revision, and each
     * removes its own chunks alone.
     */
    static String chunk(String name, long publication, long revision, int index) {
        return CHUNKS + Long.toHexString(publication) + "/" + Long.toHexString(revision) + "/" + index + "/" + name;
    }
}
