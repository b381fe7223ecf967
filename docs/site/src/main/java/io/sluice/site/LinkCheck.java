package io.sluice.site;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Follows the links between the HTML files of a folder. Those that leave it by a scheme are not followed: no network. */
final class LinkCheck {
    private static final Pattern TAG = Pattern.compile("<[a-zA-Z][^>]*>");
    private static final Pattern LINK = Pattern.compile("\\s(?:href|src)=\"([^\"]*)\"");
    private static final Pattern ANCHOR = Pattern.compile("\\s(?:id|name)=\"([^\"]*)\"");
    private static final Pattern SCHEME = Pattern.compile("^(?:[a-zA-Z][a-zA-Z0-9+.-]*:|//)");

    private final Path folder;
    private final Map<Path, Set<String>> anchors = new HashMap<>();
    private final Map<Path, Set<String>> links = new TreeMap<>();

    private LinkCheck(Path folder) {
        this.folder = folder;
    }

    /** Each dead link, with the file that has it and why it is dead; empty where there is none. */
    static List<String> dead(Path folder) throws IOException {
        LinkCheck check = new LinkCheck(folder);
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.filter(each -> each.toString().endsWith(".html"))
                    .sorted()
                    .toList()) {
                check.read(file);
            }
        }
        return check.follow();
    }

    /** Whether a link has a scheme or names a host. */
    static boolean isForeign(String destination) {
        return SCHEME.matcher(destination).find();
    }

    private void read(Path file) throws IOException {
        Set<String> ids = new HashSet<>();
        Set<String> destinations = new TreeSet<>();
        Matcher tag = TAG.matcher(Files.readString(file));
        while (tag.find()) {
            collect(ANCHOR, tag.group(), ids);
            collect(LINK, tag.group(), destinations);
        }
        anchors.put(file, ids);
        links.put(file, destinations);
    }

    private static void collect(Pattern attribute, String tag, Set<String> values) {
        Matcher found = attribute.matcher(tag);
        while (found.find()) {
            values.add(Html.unescaped(found.group(1)));
        }
    }

    private List<String> follow() {
        List<String> dead = new ArrayList<>();
        links.forEach((file, destinations) -> {
            for (String destination : destinations) {
                String reason = isForeign(destination) ? "" : reasonDead(file, destination);
                if (!reason.isEmpty()) {
                    dead.add(folder.relativize(file) + ": " + destination + ": " + reason);
                }
            }
        });
        return dead;
    }

    /** Why a link is dead; empty if it is not. */
    private String reasonDead(Path file, String destination) {
        int hash = destination.indexOf('#');
        String path = Html.decoded(hash < 0 ? destination : destination.substring(0, hash));
        Path target = path.isEmpty() ? file : file.resolveSibling(path).normalize();
        if (!target.startsWith(folder)) {
            return "leaves the site";
        }
        if (!Files.isRegularFile(target)) {
            return "there is no such file";
        }
        String fragment = hash < 0 ? "" : destination.substring(hash + 1);
        Set<String> ids = anchors.get(target);
        if (fragment.isEmpty() || ids == null || ids.contains(fragment) || ids.contains(Html.decoded(fragment))) {
            return "";
        }
        return "that page has no such place";
    }
}
