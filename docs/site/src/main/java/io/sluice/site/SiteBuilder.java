package io.sluice.site;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** The program behind {@code ./sluice docs}. */
public final class SiteBuilder {
    private SiteBuilder() {}

    /**
     * Builds the site. Ends with status 1 where Javadoc has a warning or a link is dead.
     *
     * @param arguments the folder of the checkout, whose modules are compiled, and the folder of the site, which is replaced
     * @throws IOException if a file cannot be read or written
     */
    public static void main(String[] arguments) throws IOException {
        if (arguments.length != 2) {
            throw new IllegalArgumentException("usage: SiteBuilder CHECKOUT SITE");
        }
        Path root = Path.of(arguments[0]).toRealPath();
        Path site = Path.of(arguments[1]).toAbsolutePath();
        clear(site);
        ApiPages api = ApiPages.of(PublishedModule.all(root));
        if (!api.write(site.resolve(ApiPages.FOLDER))) {
            System.err.println("javadoc has warnings or errors: each stands above");
            System.exit(1);
        }
        Site pages = Site.of(root);
        pages.write(site, api.types());
        List<String> dead = LinkCheck.dead(site);
        dead.forEach(System.err::println);
        System.out.printf(
                "%s: %d pages, %d types, %d dead links%n",
                site.resolve(Page.INDEX), pages.size(), api.types().size(), dead.size());
        System.exit(dead.isEmpty() ? 0 : 1);
    }

    private static void clear(Path folder) throws IOException {
        if (Files.exists(folder)) {
            try (Stream<Path> files = Files.walk(folder)) {
                for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                    Files.delete(file);
                }
            } catch (UncheckedIOException e) {
                throw e.getCause();
            }
        }
        Files.createDirectories(folder);
    }
}
