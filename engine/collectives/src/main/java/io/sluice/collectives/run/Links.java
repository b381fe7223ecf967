package io.sluice.collectives.run;

import io.sluice.collectives.link.LaneUser;
import io.sluice.collectives.link.Link;
import io.sluice.collectives.link.LinkLayout;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RemoteRegion;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The links to all peers: those of the channels of collectives, and those of sends and receives. The loop's. */
final class Links {
    final Channel[] channels;

    /** By rank; null for this one. */
    final @Nullable Exchange[] exchanges;

    private final @Nullable Link[] exchangeLinks;

    Links(
            LinkLayout layout,
            int rank,
            @Nullable RemoteRegion[] remotes,
            MemoryRegion own,
            MemoryRegion staging,
            LaneUser user,
            Exchange.Ends ends) {
        // the last is for sends and receives
        this.channels = new Channel[layout.channels() - 1];
        for (int channel = 0; channel < channels.length; channel++) {
            channels[channel] = new Channel(links(layout, rank, channel, remotes, own, staging, user));
        }
        this.exchangeLinks = links(layout, rank, channels.length, remotes, own, staging, user);
        this.exchanges = new Exchange[layout.size()];
        for (int peer = 0; peer < exchanges.length; peer++) {
            Link link = exchangeLinks[peer];
            exchanges[peer] = link == null ? null : new Exchange(link, layout.chunkBytes(), ends);
        }
    }

    private static @Nullable Link[] links(
            LinkLayout layout,
            int rank,
            int channel,
            @Nullable RemoteRegion[] remotes,
            MemoryRegion own,
            MemoryRegion staging,
            LaneUser user) {
        @Nullable Link[] links = new Link[layout.size()];
        for (int peer = 0; peer < links.length; peer++) {
            RemoteRegion remote = remotes[peer];
            if (remote != null) {
                links[peer] = new Link(layout, rank, peer, channel, remote, own, staging, user);
            }
        }
        return links;
    }

    boolean isOfCollectives(Link link) {
        return link.channel() < channels.length;
    }

    Exchange exchange(int peer) {
        return Objects.requireNonNull(exchanges[peer]);
    }

    void begin() {
        for (Exchange exchange : exchanges) {
            if (exchange != null) {
                exchange.begin();
            }
        }
    }

    void stop() {
        for (Channel channel : channels) {
            stop(channel.links);
        }
        stop(exchangeLinks);
    }

    private static void stop(@Nullable Link[] links) {
        for (Link link : links) {
            if (link != null) {
                link.stop();
            }
        }
    }
}
