package io.sluice.samples.experts;

/**
 * Brings tokens to the experts that they have chosen, and the experts' results back. Every rank makes the same calls. When
 * ranks are lost, a call throws {@link io.sluice.engine.SluiceException}, and {@link #shrink} makes it usable again. Used by
 * one thread.
 */
interface Exchange extends AutoCloseable {
    /** This process among those that have experts, from 0 on. */
    int rank();

    /** How many have experts. */
    int size();

    /** How many experts each has. Rank r has those from r times as many on; the last ones may be more than there are. */
    int localExperts();

    /**
     * Sends rows to their experts.
     *
     * @param rows bfloat16, one a token of this rank
     * @param choices the experts of each
     */
    Arrived send(short[][] rows, int[][] choices);

    /**
     * Sends the experts' results back, and adds those of each token by weight.
     *
     * @param arrived what {@link #send} has returned; closed by this
     * @param results of each local expert, as rows as they arrived
     * @param weights of the choices of each token of this rank
     * @return the sum of each token of this rank, rounded to bfloat16 once
     */
    short[][] answer(Arrived arrived, short[][][] results, float[][] weights);

    /**
     * Collects floats of all ranks.
     *
     * @param counts how many each rank has
     * @return in the order of the ranks
     */
    float[] gather(float[] mine, int[] counts);

    /** The least number that a rank calls this with. */
    long least(long number);

    /** Goes on with the ranks that are left, which have new numbers then. */
    void shrink();

    @Override
    void close();

    /** Rows at the experts of this rank. */
    interface Arrived extends AutoCloseable {
        /**
         * Returns the rows of a local expert, ordered by the ranks they come from, and of one by its tokens: so their order
         * does not depend on how many ranks there are.
         */
        short[][] rows(int localExpert);

        /** Gives the memory back. */
        @Override
        void close();
    }
}
