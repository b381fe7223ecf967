import org.jspecify.annotations.NullMarked;

/** Expert parallelism on the memory of a team's GPUs, by kernels that store to it, or have the host carry there. */
@NullMarked
module io.sluice.experts.cuda {
    requires static transitive org.jspecify;
    requires transitive io.sluice.collectives;
    requires transitive io.sluice.cuda;
    requires transitive io.sluice.experts;
    requires io.sluice.collectives.cuda;
    requires org.slf4j;

    exports io.sluice.experts.cuda;
}
