import org.jspecify.annotations.NullMarked;

/** Engine discovery by name. */
@NullMarked
module io.sluice.directory {
    requires static transitive org.jspecify;
    requires transitive io.sluice.reactor;
    requires org.slf4j;
    // only with collectives
    requires static io.sluice.collectives;

    exports io.sluice.directory;
    exports io.sluice.directory.store;
}
