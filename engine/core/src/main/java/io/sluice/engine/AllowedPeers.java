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
 * An allow-list of peers and their rights; a peer that is not on it is refused. Peers and regions are given by patterns
 * in which {@code *} matches any characters. A peer's pattern must match one of {@link PeerIdentity#names()} completely
 * and is case-sensitive. Rights from several rules add up. Immutable: each method returns a longer list.
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

    /** The rights of the peers that match a pattern; without a region pattern the rule covers unnamed regions. */
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
     * Returns an empty list, which refuses every peer.
     *
     * @return the list
     */
    public static AllowedPeers none() {
        return NONE;
    }

    /**
     * Lets peers connect, without access to any region.
     *
     * @param peers a pattern that matches their names
     * @return the longer list
     */
    public AllowedPeers connections(String peers) {
        return and(new Rule(pattern(peers), null, Set.of()));
    }

    /**
     * Lets peers connect, and look up and attach named regions.
     *
     * @param peers a pattern that matches their names
     * @param regions a pattern that matches the regions' names
     * @param rights what the peers may do
     * @return the longer list
     */
    public AllowedPeers regions(String peers, String regions, Access... rights) {
        return and(new Rule(pattern(peers), pattern(regions), setOf(rights)));
    }

    /**
     * Lets peers connect, and attach unnamed regions whose descriptors they hold.
     *
     * @param peers a pattern that matches their names
     * @param rights what the peers may do
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
