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

    /** Revision and index stand first: a name may contain whatever separates. */
    static String chunk(String name, long revision, int index) {
        return CHUNKS + Long.toHexString(revision) + "/" + index + "/" + name;
    }
}
