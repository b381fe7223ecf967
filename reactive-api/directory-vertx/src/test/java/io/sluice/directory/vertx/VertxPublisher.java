package io.sluice.directory.vertx;

import io.sluice.directory.contract.PublisherProgram;

/** Joins the cluster and publishes one engine: port of the first member, name, lease. */
final class VertxPublisher {
    private VertxPublisher() {}

    public static void main(String[] arguments) throws Exception {
        Member member = Member.join(Integer.parseInt(arguments[0]), false);
        PublisherProgram.run(
                VertxDirectory.over(member.vertx(), member.cluster(), PublisherProgram.options(arguments[2])),
                arguments[1]);
    }
}
