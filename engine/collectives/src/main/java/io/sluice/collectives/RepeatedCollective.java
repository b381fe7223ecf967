package io.sluice.collectives;

/** A collective that is prepared once and runs again and again. */
final class RepeatedCollective extends CalledCollective implements PersistentCollective {
    RepeatedCollective(Parts parts, Call call, CollectiveOptions options, CollectiveCallback callback, int channel) {
        super(parts, call, options, callback, channel);
    }

    @Override
    public void start() {
        run(callback());
    }

    @Override
    public void start(CollectiveCallback next) {
        run(next);
    }

    @Override
    public void close() {
        release();
    }
}
