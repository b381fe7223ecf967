import org.jspecify.annotations.NullMarked;

/** How engines find each other by name. */
@NullMarked
module io.sluice.directory {
    requires static transitive org.jspecify;
    requires transitive io.sluice.reactor;
    requires org.slf4j;

    exports io.sluice.directory;
    exports io.sluice.directory.store;
}
