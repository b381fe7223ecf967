package io.sluice.site;

import java.util.ArrayList;
import java.util.List;
import org.commonmark.node.Heading;
import org.commonmark.node.Node;

/** The searchable sections of pages and public types. The browser searches it without a server. */
final class SearchIndex {
    private final List<String> entries = new ArrayList<>();

    void add(Page page) {
        String heading = page.title();
        String place = "";
        StringBuilder text = new StringBuilder();
        for (Node node = page.document().getFirstChild(); node != null; node = node.getNext()) {
            if (node instanceof Heading next) {
                add(page, heading, place, text);
                heading = Page.text(next);
                place = "#" + page.id(next);
                text.setLength(0);
            } else {
                text.append(Page.text(node)).append(' ');
            }
        }
        add(page, heading, place, text);
    }

    private void add(Page page, String heading, String place, CharSequence text) {
        if (!place.isEmpty() || !text.isEmpty()) {
            entries.add(entry(page.title(), heading, page.target() + place, text.toString()));
        }
    }

    /** A type, by the path of its page in the Javadoc. */
    void addType(String page) {
        String name = page.substring(0, page.length() - ".html".length()).replace('/', '.');
        entries.add(entry("API", name.substring(name.lastIndexOf('.') + 1), ApiPages.FOLDER + "/" + page, name));
    }

    private static String entry(String page, String heading, String link, String text) {
        return "[" + quoted(page) + "," + quoted(heading) + "," + quoted(link) + "," + quoted(text) + "]";
    }

    private static String quoted(String text) {
        return "\"" + text.replace("\\", "\\\\").replace("\"", "\\\"").replaceAll("\\s+", " ") + "\"";
    }

    /** Entries of page, heading, link and text. */
    String toScript() {
        return "const searchIndex = [\n" + String.join(",\n", entries) + "\n];\n";
    }
}
