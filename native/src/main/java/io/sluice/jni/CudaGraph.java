package io.sluice.jni;

/** Graphs of launches that follow each other. See {@link CudaLibrary} for the conventions of these classes. */
public final class CudaGraph {
    static {
        NativeLibrary.ensureAvailable();
    }

    private CudaGraph() {}

    /**
     * Makes a graph of launches, ready for {@link CudaStream#LAUNCH_GRAPH} in the streams of their GPU. The kernels' arguments are
     * taken over. A module stays loaded as long as a graph has kernels of it; the stream may be destroyed before.
     *
     * @param device a handle of the stream's GPU, open until the graph is destroyed
     * @param requests the address of records of {@link CudaStream#LAUNCH}, all of one stream; their signals and words are ignored
     * @param count the number of records, at least 1
     * @return the graph's handle, or an error
     */
    public static native long create(long device, long requests, int count);

    /**
     * Destroys a graph. None of its launches may be under way.
     *
     * @param graph the graph
     * @return 0 or an error; the handle is gone in either case
     */
    public static native int destroy(long graph);
}
