package io.sluice.engine.bootstrap;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The host that an engine advertises to peers if the options name none: the bound address, or for a wildcard address
 * one at which peers can reach it.
 *
 * @param address the address to advertise
 * @param origin why this address was chosen, for the log
 */
public record AdvertisedHost(InetAddress address, String origin) {
    private static final Logger LOG = LoggerFactory.getLogger(AdvertisedHost.class);

    /** For documentation: only the default route leads there, and connecting a datagram socket sends nothing. */
    private static final InetAddress ELSEWHERE = InetAddress.ofLiteral("192.0.2.1");

    private static final InetAddress ELSEWHERE_6 = InetAddress.ofLiteral("2001:db8::1");

    /** Chooses the host to advertise, and logs a line unless it is the requested one. */
    public static String of(String listenHost, InetAddress bound, LocalNetwork network) {
        if (!bound.isAnyLocalAddress()) {
            if (bound.isLoopbackAddress() && !saysLoopback(listenHost)) {
                LOG.warn(
                        "listening only on {}, as the name '{}' resolves to it: peers on other machines cannot"
                                + " connect. Listen on an address, or on 0.0.0.0",
                        bound.getHostAddress(),
                        listenHost);
            }
            return bound.getHostAddress();
        }
        AdvertisedHost chosen = choose(bound, network);
        String text = chosen.address.getHostAddress();
        if (chosen.address.isLoopbackAddress()) {
            LOG.warn(
                    "listening on {}, but this machine has no address except loopback: advertising {}, which only peers"
                            + " on this machine can use. Where others can reach it, set SLUICE_ADVERTISE=HOST:PORT",
                    listenHost,
                    text);
        } else {
            LOG.info(
                    "listening on {}, advertising {}, {}. Set SLUICE_ADVERTISE=HOST:PORT if peers need another address",
                    listenHost,
                    text,
                    chosen.origin);
        }
        return text;
    }

    /** Returns the best address of this machine for a wildcard address; loopback if there is no other. */
    static AdvertisedHost choose(InetAddress wildcard, LocalNetwork network) {
        boolean six = !(wildcard instanceof Inet4Address);
        List<InetAddress> own = network.addresses().stream()
                .filter(address -> six || address instanceof Inet4Address)
                .toList();
        InetAddress named = network.addressOfName();
        if (named != null && own.contains(named) && reach(named) == Reach.NETWORK) {
            return new AdvertisedHost(named, "the address of this machine's name");
        }
        // a wildcard IPv6 socket takes IPv4 peers too, and more peers have IPv4
        List<InetAddress> elsewhere = six ? List.of(ELSEWHERE, ELSEWHERE_6) : List.of(ELSEWHERE);
        for (InetAddress destination : elsewhere) {
            InetAddress source = network.sourceTowards(destination);
            if (source != null && reach(source) == Reach.NETWORK) {
                return new AdvertisedHost(source, "the source address of the default route");
            }
        }
        List<InetAddress> ordered = new ArrayList<>();
        for (Reach reach : List.of(Reach.NETWORK, Reach.LINK)) {
            own.stream()
                    .filter(address -> reach(address) == reach && address instanceof Inet4Address)
                    .forEach(ordered::add);
            own.stream()
                    .filter(address -> reach(address) == reach && !(address instanceof Inet4Address))
                    .forEach(ordered::add);
        }
        if (!ordered.isEmpty()) {
            List<String> others =
                    ordered.stream().skip(1).map(InetAddress::getHostAddress).toList();
            return new AdvertisedHost(
                    ordered.getFirst(),
                    "an interface's address, as there is no default route"
                            + (others.isEmpty() ? "" : "; others are " + String.join(", ", others)));
        }
        InetAddress loopback = InetAddress.ofLiteral("127.0.0.1");
        return new AdvertisedHost(
                six && !network.addresses().contains(loopback) ? InetAddress.ofLiteral("::1") : loopback,
                "the only one");
    }

    private static boolean saysLoopback(String host) {
        try {
            return InetAddress.ofLiteral(host).isLoopbackAddress();
        } catch (IllegalArgumentException e) {
            return host.toLowerCase(Locale.ROOT).contains("localhost");
        }
    }

    /** The reach of an address. */
    private enum Reach {
        NETWORK,
        /** Machines on the same link. */
        LINK,
        /** This machine, or a caller that must know one of its own interfaces, as for an IPv6 link-local address. */
        HERE
    }

    private static Reach reach(InetAddress address) {
        if (address.isLoopbackAddress() || address.isAnyLocalAddress() || address.isMulticastAddress()) {
            return Reach.HERE;
        }
        if (!address.isLinkLocalAddress()) {
            return Reach.NETWORK;
        }
        return address instanceof Inet4Address ? Reach.LINK : Reach.HERE;
    }
}
