import org.jspecify.annotations.NullMarked;

/** Collectives of a team's GPUs, by kernels that reach each other's memory. */
@NullMarked
module io.sluice.collectives.cuda {
    requires static transitive org.jspecify;
    requires transitive io.sluice.collectives;
    requires transitive io.sluice.cuda;

    exports io.sluice.collectives.cuda;
}
