package io.sluice.directory;

/** Valid engine names: without characters that have a meaning for stores, such as a star. */
final class Names {
    static final int MAX_LENGTH = 200;

    private Names() {}

    /** Checks a name, or a prefix of names, which may be empty. */
    static String checkPrefix(String prefix) {
        if (prefix.length() > MAX_LENGTH || !prefix.chars().allMatch(Names::isAllowed)) {
            throw new IllegalArgumentException("'" + prefix + "' is not a name: up to " + MAX_LENGTH
                    + " ASCII letters, digits and any of . _ - ~ : @ /");
        }
        return prefix;
    }

    static String check(String name) {
        if (name.isEmpty()) {
            throw new IllegalArgumentException("a name must not be empty");
        }
        return checkPrefix(name);
    }

    private static boolean isAllowed(int c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || ".-_~:@/".indexOf(c) >= 0;
    }
}
