package io.sluice.site;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;

/** Text in HTML and in its links. */
final class Html {
    private Html() {}

    /** Text as it stands in HTML, also in a quoted attribute. */
    static String escaped(String text) {
        return text.replace("&", "&amp;")
                .replace("<", "&lt;")
                .replace(">", "&gt;")
                .replace("\"", "&quot;");
    }

    /** The text of an attribute. */
    static String unescaped(String attribute) {
        return attribute
                .replace("&lt;", "<")
                .replace("&gt;", ">")
                .replace("&quot;", "\"")
                .replace("&#39;", "'")
                .replace("&amp;", "&");
    }

    /** The path or fragment that a part of a link names. */
    static String decoded(String part) {
        return URLDecoder.decode(part.replace("+", "%2B"), StandardCharsets.UTF_8);
    }
}
