package io.sluice.engine;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * An allow-list of peers with their rights; a peer that is not on it is refused. Peers and regions are given by
 * patterns, in which {@code *} stands for any characters. A peer's pattern is compared with each of {@link
 * PeerIdentity#names()}, as a whole and with the case of letters. Rights add up. Immutable: each method gives a longer
 * list.
 *
 * <pre>{@code
 * AllowedPeers.none()
 *         .regions("prefill-*", "kv/*", Access.REMOTE_READ, Access.REMOTE_WRITE)
 *         .regions("decode-*", "kv/*", Access.REMOTE_READ)
 *         .unnamedRegions("decode-*", Access.REMOTE_READ)
 * }</pre>
 */
public final class AllowedPeers implements PeerAuthorizer {
    private static final AllowedPeers NONE = new AllowedPeers(List.of());

    private final List<Rule> rules;

    private AllowedPeers(List<Rule> rules) {
        this.rules = rules;
    }

    /** The rights of one pattern of peers; without a pattern of regions the rule covers regions without a name. */
    private record Rule(Pattern peer, @Nullable Pattern regions, Set<Access> rights) {
        boolean isAbout(PeerIdentity identity) {
            return identity.names().stream().anyMatch(name -> peer.matcher(name).matches());
        }

        boolean covers(@Nullable String region) {
            return region == null
                    ? regions == null
                    : regions != null && regions.matcher(region).matches();
        }
    }

    /**
     * An empty list: every peer is refused.
     *
     * @return the list
     */
    public static AllowedPeers none() {
        return NONE;
    }

    /**
     * Peers that may connect, and get no region by that.
     *
     * @param peers a pattern of their names
     * @return the longer list
     */
    public AllowedPeers connections(String peers) {
        return and(new Rule(pattern(peers), null, Set.of()));
    }

    /**
     * Peers that may connect, look up and attach named regions.
     *
     * @param peers a pattern of their names
     * @param regions a pattern of the regions' names
     * @param rights what they may do
     * @return the longer list
     */
    public AllowedPeers regions(String peers, String regions, Access... rights) {
        return and(new Rule(pattern(peers), pattern(regions), setOf(rights)));
    }

    /**
     * Peers that may connect, and attach regions without a name of which they hold descriptors.
     *
     * @param peers a pattern of their names
     * @param rights what they may do
     * @return the longer list
     */
    public AllowedPeers unnamedRegions(String peers, Access... rights) {
        return and(new Rule(pattern(peers), null, setOf(rights)));
    }

    private AllowedPeers and(Rule rule) {
        List<Rule> more = new ArrayList<>(rules);
        more.add(rule);
        return new AllowedPeers(List.copyOf(more));
    }

    private static Set<Access> setOf(Access... rights) {
        EnumSet<Access> set = EnumSet.noneOf(Access.class);
        set.addAll(List.of(rights));
        return set;
    }

    private static Pattern pattern(String text) {
        return Pattern.compile(
                Arrays.stream(text.split("\\*", -1)).map(Pattern::quote).collect(Collectors.joining(".*")),
                Pattern.DOTALL);
    }

    @Override
    public boolean mayConnect(PeerIdentity peer) {
        return rules.stream().anyMatch(rule -> rule.isAbout(peer));
    }

    @Override
    public Set<Access> access(PeerIdentity peer, @Nullable String region) {
        EnumSet<Access> rights = EnumSet.noneOf(Access.class);
        for (Rule rule : rules) {
            if (rule.covers(region) && rule.isAbout(peer)) {
                rights.addAll(rule.rights());
            }
        }
        return rights;
    }
}
