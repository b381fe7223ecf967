import org.jspecify.annotations.NullMarked;

/** The native layer of Sluice: sockets, epoll, event descriptors, memory, text files and facts about the machine. No policy. */
@NullMarked
module io.sluice.jni {
    requires static transitive org.jspecify;

    exports io.sluice.jni;
}
