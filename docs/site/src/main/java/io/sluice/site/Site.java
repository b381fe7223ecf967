package io.sluice.site;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/** The pages of the site but for Javadoc's, and the files that they link to. */
final class Site {
    // In this order; all others follow by their paths.
    private static final List<String> FIRST =
            List.of("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md");
    // Folders without pages: build output, sources, and folders whose names begin with a dot.
    private static final Set<String> SKIPPED = Set.of("target", "src", "shared");
    private static final String API_LINK = "<a href=\"{up}" + ApiPages.FOLDER + "/index.html\">API</a>";
    private static final List<String> OWN = List.of("site.css", "search.js");

    private final Path root;
    private final List<Page> pages;
    private final Set<Path> linked = new LinkedHashSet<>();

    private Site(Path root, List<Page> pages) {
        this.root = root;
        this.pages = pages;
    }

    /** The pages of a checkout: every Markdown file but those among sources. */
    static Site of(Path root) throws IOException {
        List<Page> pages = new ArrayList<>();
        for (Path source : sources(root)) {
            pages.add(Page.read(root, root.relativize(source)));
        }
        pages.sort(Comparator.comparingInt((Page page) -> rank(page.source()))
                .thenComparing(page -> page.source().toString()));
        return new Site(root, pages);
    }

    private static int rank(Path source) {
        int place = FIRST.indexOf(source.toString());
        return place < 0 ? FIRST.size() : place;
    }

    private static List<Path> sources(Path folder) throws IOException {
        List<Path> found = new ArrayList<>();
        try (Stream<Path> entries = Files.list(folder)) {
            for (Path entry : entries.toList()) {
                String name = entry.getFileName().toString();
                if (Files.isSymbolicLink(entry) || name.startsWith(".") || SKIPPED.contains(name)) {
                    continue;
                }
                if (Files.isDirectory(entry)) {
                    found.addAll(sources(entry));
                } else if (name.endsWith(".md")) {
                    found.add(entry);
                }
            }
        }
        return found;
    }

    int size() {
        return pages.size();
    }

    /** Writes all pages, and the index for the search, which also has these types of the API. */
    void write(Path site, List<String> types) throws IOException {
        SearchIndex index = new SearchIndex();
        for (Page page : pages) {
            index.add(page);
        }
        types.forEach(index::addType);
        for (Page page : pages) {
            page.rewriteLinks(destination -> rewritten(page, destination));
            write(site, page.target(), page.title(), page.toHtml());
        }
        for (Path file : linked) {
            if (Files.isDirectory(root.resolve(file))) {
                writeListing(site, file);
            }
        }
        for (Path file : linked) {
            copy(site, file);
        }
        for (String own : OWN) {
            try (InputStream file = resource(own)) {
                Files.copy(file, site.resolve(own));
            }
        }
        Files.writeString(site.resolve("search-index.js"), index.toScript());
    }

    /** A destination within the checkout becomes the same within the site; what is missing stays, and is found dead. */
    private String rewritten(Page page, String destination) {
        if (LinkCheck.isForeign(destination) || destination.startsWith("#")) {
            return destination;
        }
        int fragment = destination.indexOf('#');
        String path = fragment < 0 ? destination : destination.substring(0, fragment);
        Path file = parent(page.source()).resolve(path).normalize();
        if (file.startsWith("..") || !Files.exists(root.resolve(file))) {
            return destination;
        }
        String target = path;
        if (Files.isDirectory(root.resolve(file))) {
            target = path + (path.endsWith("/") ? "" : "/") + Page.INDEX;
            if (pages.stream().noneMatch(each -> each.target().equals(file.resolve(Page.INDEX)))) {
                linked.add(file);
            }
        } else if (isPage(file)) {
            target = path.substring(0, path.lastIndexOf('/') + 1)
                    + Page.targetOf(file).getFileName();
        } else {
            linked.add(file);
        }
        return fragment < 0 ? target : target + destination.substring(fragment);
    }

    private boolean isPage(Path file) {
        return pages.stream().anyMatch(page -> page.source().equals(file));
    }

    private static Path parent(Path file) {
        Path parent = file.getParent();
        return parent == null ? Path.of("") : parent;
    }

    /** A folder without a page of its own shows what is in it, as it does on GitHub. */
    private void writeListing(Path site, Path folder) throws IOException {
        StringBuilder list = new StringBuilder("<h1>" + Html.escaped(folder.toString()) + "</h1>\n<ul>\n");
        try (Stream<Path> files = Files.list(root.resolve(folder))) {
            for (Path file : files.filter(Files::isRegularFile).sorted().toList()) {
                Path target = Page.targetOf(file.getFileName());
                list.append("<li><a href=\"%s\">%s</a></li>\n"
                        .formatted(
                                Html.escaped(target.toString()),
                                Html.escaped(file.getFileName().toString())));
                if (!isPage(root.relativize(file))) {
                    copy(site, root.relativize(file));
                }
            }
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
        write(site, folder.resolve(Page.INDEX), folder.toString(), list + "</ul>\n");
    }

    private void copy(Path site, Path file) throws IOException {
        Path target = site.resolve(file);
        if (Files.isRegularFile(root.resolve(file)) && !Files.exists(target)) {
            Files.createDirectories(target.getParent());
            Files.copy(root.resolve(file), target);
        }
    }

    private void write(Path site, Path target, String title, String content) throws IOException {
        String up = "../".repeat(target.getNameCount() - 1);
        StringBuilder menu = new StringBuilder();
        for (Page page : pages) {
            menu.append("<li><a href=\"%s%s\">%s</a></li>\n".formatted(up, page.target(), Html.escaped(page.title())));
        }
        String frame;
        try (InputStream file = resource("frame.html")) {
            frame = new String(file.readAllBytes(), StandardCharsets.UTF_8);
        }
        Path file = site.resolve(target);
        Files.createDirectories(file.getParent());
        Files.writeString(
                file,
                frame.replace("{title}", Html.escaped(title))
                        .replace("{up}", up)
                        .replace(
                                "{api}",
                                Files.exists(site.resolve(ApiPages.FOLDER)) ? API_LINK.replace("{up}", up) : "")
                        .replace("{menu}", menu)
                        .replace("{content}", content));
    }

    private static InputStream resource(String name) {
        InputStream file = Site.class.getResourceAsStream(name);
        if (file == null) {
            throw new IllegalStateException("the site's own file " + name + " is missing from its jar");
        }
        return file;
    }
}
