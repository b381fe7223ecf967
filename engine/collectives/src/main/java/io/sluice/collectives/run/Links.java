package io.sluice.collectives.run;

import io.sluice.collectives.link.LaneUser;
import io.sluice.collectives.link.Link;
import io.sluice.collectives.link.LinkLayout;
import io.sluice.collectives.link.MappedPeer;
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
    private final @Nullable MappedPeer[] mapped;

    Links(
            LinkLayout layout,
            int rank,
            @Nullable RemoteRegion[] remotes,
            MemoryRegion own,
            MemoryRegion staging,
            LaneUser user,
            Exchange.Ends ends) {
        this.mapped = new MappedPeer[layout.size()];
        for (int peer = 0; peer < mapped.length; peer++) {
            RemoteRegion remote = remotes[peer];
            mapped[peer] = remote == null ? null : MappedPeer.of(layout, peer, remote, user);
        }
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

    private @Nullable Link[] links(
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
                links[peer] = new Link(layout, rank, peer, channel, remote, mapped[peer], own, staging, user);
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
        for (MappedPeer peer : mapped) {
            if (peer != null) {
                peer.stop();
            }
        }
    }

    /** The number of peers whose memory is mapped: what they store must be looked for. */
    int mappedPeers() {
        int count = 0;
        for (MappedPeer peer : mapped) {
            count += peer == null ? 0 : 1;
        }
        return count;
    }

    /** Whether the memory of all peers is mapped. */
    boolean isAllMapped() {
        for (int peer = 0; peer < mapped.length; peer++) {
            if (exchanges[peer] != null && mapped[peer] == null) {
                return false;
            }
        }
        return true;
    }

    /** Lets all collectives look whether they can go on. */
    void ready() {
        for (Channel channel : channels) {
            channel.ready();
        }
    }

    /** The rank for which a collective waits, or -1. */
    int awaited() {
        for (Channel channel : channels) {
            Run current = channel.current();
            if (current != null && current.awaited() >= 0) {
                return current.awaited();
            }
        }
        return -1;
    }

    /** Whether a collective looks for what peers store or write. */
    boolean look() {
        for (Channel channel : channels) {
            if (channel.looks()) {
                return true;
            }
        }
        return false;
    }

    /** From now on the engine reports what is waited for; mapped peers must do so themselves. */
    void sleep() {
        for (Channel channel : channels) {
            channel.sleeps();
        }
    }

    /** Whether something has come that is looked for. */
    boolean isReady() {
        for (Channel channel : channels) {
            if (channel.isReady()) {
                return true;
            }
        }
        return isExchangeReady();
    }

    /** Whether a mapped peer has stored what a send or receive waits for. */
    boolean isExchangeReady() {
        for (Exchange exchange : exchanges) {
            if (exchange != null && exchange.isReady()) {
                return true;
            }
        }
        return false;
    }

    /** Tells the peers whose memory is mapped, before any collective ends with an error here. */
    void breakOff(long at) {
        for (MappedPeer peer : mapped) {
            if (peer != null) {
                peer.breakOff(at);
            }
        }
    }

    private static void stop(@Nullable Link[] links) {
        for (Link link : links) {
            if (link != null) {
                link.stop();
            }
        }
    }
}
