package io.sluice.site;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.commonmark.Extension;
import org.commonmark.ext.gfm.tables.TablesExtension;
import org.commonmark.node.AbstractVisitor;
import org.commonmark.node.Code;
import org.commonmark.node.Heading;
import org.commonmark.node.Image;
import org.commonmark.node.Link;
import org.commonmark.node.Node;
import org.commonmark.node.Text;
import org.commonmark.parser.Parser;
import org.commonmark.renderer.html.HtmlRenderer;

/** One Markdown file, and what becomes of it. */
final class Page {
    /** The page of a folder, where its {@code README.md} goes. */
    static final String INDEX = "index.html";

    private static final String README = "README.md";
    private static final String MARKDOWN = ".md";
    private static final List<Extension> EXTENSIONS = List.of(TablesExtension.create());
    private static final Parser PARSER = Parser.builder().extensions(EXTENSIONS).build();

    private final Path source;
    private final Node document;
    private final Map<Heading, String> ids = new HashMap<>();
    private final List<Heading> headings = new ArrayList<>();

    private Page(Path source, Node document) {
        this.source = source;
        this.document = document;
        findHeadings();
    }

    /** Reads a file, whose path is relative to the folder of the checkout. */
    static Page read(Path root, Path source) throws IOException {
        return new Page(source, PARSER.parse(Files.readString(root.resolve(source))));
    }

    private void findHeadings() {
        Map<String, Integer> taken = new HashMap<>();
        document.accept(new AbstractVisitor() {
            @Override
            public void visit(Heading heading) {
                String slug = slug(text(heading));
                int before = taken.merge(slug, 1, Integer::sum) - 1;
                ids.put(heading, before == 0 ? slug : slug + "-" + before);
                headings.add(heading);
            }
        });
    }

    /** The fragment that GitHub gives to a heading, so that links work in both places. */
    private static String slug(String heading) {
        return heading.toLowerCase(Locale.ROOT)
                .replaceAll("[^\\p{L}\\p{N} _-]", "")
                .replace(' ', '-');
    }

    /** The words of a node, without their markup. */
    static String text(Node node) {
        StringBuilder text = new StringBuilder();
        node.accept(new AbstractVisitor() {
            @Override
            public void visit(Text part) {
                text.append(part.getLiteral());
            }

            @Override
            public void visit(Code part) {
                text.append(part.getLiteral());
            }
        });
        return text.toString();
    }

    /** Returns the target of a Markdown page; other files keep their path. */
    static Path targetOf(Path source) {
        String name = source.getFileName().toString();
        if (name.equals(README)) {
            return source.resolveSibling(INDEX);
        }
        return name.endsWith(MARKDOWN)
                ? source.resolveSibling(name.substring(0, name.length() - MARKDOWN.length()) + ".html")
                : source;
    }

    Path source() {
        return source;
    }

    Path target() {
        return targetOf(source);
    }

    /** Its first heading, or the file's name. */
    String title() {
        return headings.isEmpty() ? source.getFileName().toString() : text(headings.getFirst());
    }

    Node document() {
        return document;
    }

    /** The fragment of a heading of this page. */
    String id(Heading heading) {
        String id = ids.get(heading);
        if (id == null) {
            throw new IllegalArgumentException("a heading of another page");
        }
        return id;
    }

    /** Passes each link and the source of each image through a function. */
    void rewriteLinks(LinkRewriting rewriting) {
        document.accept(new AbstractVisitor() {
            @Override
            public void visit(Link link) {
                link.setDestination(rewriting.rewritten(link.getDestination()));
                visitChildren(link);
            }

            @Override
            public void visit(Image image) {
                image.setDestination(rewriting.rewritten(image.getDestination()));
            }
        });
    }

    /** Converts the destination of a link. */
    @FunctionalInterface
    interface LinkRewriting {
        String rewritten(String destination);
    }

    /** The document as HTML, without a frame. */
    String toHtml() {
        return HtmlRenderer.builder()
                .extensions(EXTENSIONS)
                .attributeProviderFactory(context -> (node, tag, attributes) -> {
                    if (node instanceof Heading heading) {
                        attributes.put("id", id(heading));
                    }
                })
                .build()
                .render(document);
    }
}
