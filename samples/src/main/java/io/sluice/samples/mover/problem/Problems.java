package io.sluice.samples.mover.problem;

import io.sluice.directory.DirectoryFormatException;
import io.sluice.directory.DirectoryUnavailableException;
import io.sluice.directory.EngineNotFoundException;
import io.sluice.engine.AuthenticationException;
import io.sluice.engine.ConnectFailedException;
import io.sluice.engine.ConnectionClosedException;
import io.sluice.engine.ConnectionLostException;
import io.sluice.engine.ElementsFailedException;
import io.sluice.engine.InvalidDescriptorException;
import io.sluice.engine.OutcomeUnknownException;
import io.sluice.engine.RegionClosedException;
import io.sluice.engine.RegionNotFoundException;
import io.sluice.engine.RegistrationException;
import io.sluice.engine.RemoteAccessException;
import io.sluice.engine.StaleDescriptorException;
import io.sluice.engine.TransferTimeoutException;
import io.sluice.engine.TransportUnavailableException;
import io.vertx.core.eventbus.ReplyException;
import io.vertx.core.eventbus.ReplyFailure;
import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonObject;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The problems that there are. */
public final class Problems {

    /** Asked for wrongly. */
    public static final int BAD_REQUEST = 400;

    /** There is no such thing. */
    public static final int NOT_FOUND = 404;

    /** Not in this state of things. */
    public static final int CONFLICT = 409;

    /** Understood, and cannot be. */
    public static final int UNPROCESSABLE = 422;

    /** Later. */
    public static final int TOO_MANY = 429;

    /** A mistake of this program. */
    public static final int INTERNAL = 500;

    /** A peer is at fault. */
    public static final int BAD_GATEWAY = 502;

    /** Not now. */
    public static final int UNAVAILABLE = 503;

    /** A peer is too slow. */
    public static final int GATEWAY_TIMEOUT = 504;

    /** No room. */
    public static final int INSUFFICIENT_STORAGE = 507;

    private static final Logger LOG = LoggerFactory.getLogger(Problems.class);

    private Problems() {}

    /** The request is not as the contract says. */
    public static Problem invalid(String detail) {
        return new Problem(
                "invalid-request",
                BAD_REQUEST,
                "The request is not as the contract says",
                detail,
                "Compare the request with /openapi.yaml.");
    }

    /** The request is well formed, and asks for what cannot be. */
    public static Problem impossible(String detail) {
        return new Problem(
                "impossible-request",
                UNPROCESSABLE,
                "What is asked for cannot be",
                detail,
                "Change the request as the detail says.");
    }

    /** There is no such pool here. */
    public static Problem unknownPool(String name) {
        return new Problem(
                "unknown-pool",
                NOT_FOUND,
                "There is no such pool",
                "there is no pool '" + name + "'",
                "Register it with POST /api/pools, on both movers; GET /api/pools lists those that there are.");
    }

    /** There is no such pool at a peer. */
    public static Problem unknownPoolAtPeer(String name) {
        return new Problem(
                "unknown-pool-at-peer",
                CONFLICT,
                "The peer has no such pool",
                "the peer has no pool '" + name + "'",
                "Register it with POST /api/pools of that peer.");
    }

    /** A pool has the name already. */
    public static Problem poolExists(String name) {
        return new Problem(
                "pool-exists",
                CONFLICT,
                "The name is taken",
                "there is a pool '" + name + "' already",
                "Choose another name, or close that one with DELETE /api/pools/" + name + ".");
    }

    /** Somebody reads or writes there. */
    public static Problem poolInUse(String name) {
        return new Problem(
                "pool-in-use",
                CONFLICT,
                "The pool is in use",
                "blocks of the pool '" + name + "' are being moved",
                "Cancel the moves, or wait for their end, and try again.");
    }

    /** All blocks are read or written. */
    public static Problem poolFull(String name) {
        return new Problem(
                "pool-full",
                CONFLICT,
                "There is no room",
                "all blocks of the pool '" + name + "' are being read or written",
                "Try again when other moves have ended, or register a larger pool.");
    }

    /** Pools of different shapes. */
    public static Problem differentLayout(String pool) {
        return new Problem(
                "different-layout",
                CONFLICT,
                "The pools do not fit each other",
                "the pool '" + pool + "' has other layers, pages or blocks at the peer",
                "Register both with the same model, or the same layers, page bytes and pages per block.");
    }

    /** More memory than this mover may use. */
    public static Problem memoryLimit(long wanted, long left) {
        return new Problem(
                "memory-limit",
                INSUFFICIENT_STORAGE,
                "The pool is too large",
                "it takes " + wanted + " bytes, and " + left + " bytes are left of this mover's memory",
                "Ask for fewer blocks, close a pool, or start the mover with a larger --memory.");
    }

    /** More of something than there may be. */
    public static Problem tooMany(String what, int most, String action) {
        return new Problem(
                "too-many", TOO_MANY, "There is a limit", "there are " + most + " " + what + " already", action);
    }

    /** A decode process computes nothing. */
    public static Problem computesNothing() {
        return new Problem(
                "computes-nothing",
                CONFLICT,
                "A decode mover computes no blocks",
                "blocks are computed on a prefill mover, and moved from there",
                "Send this to a prefill mover.");
    }

    /** There is no such peer. */
    public static Problem unknownPeer(String name) {
        return new Problem(
                "unknown-peer",
                NOT_FOUND,
                "There is no such peer",
                "the directory knows no mover '" + name + "'",
                "GET /api/peers lists those that it knows; one that has died is gone, and back once it has restarted.");
    }

    /** It does not answer. */
    public static Problem peerLost(String detail) {
        return new Problem(
                "peer-lost",
                BAD_GATEWAY,
                "The connection to the peer has ended",
                detail,
                "Try again: the next move connects to whatever the directory names then.");
    }

    /** The directory names another run than the one that answers. */
    public static Problem peerRestarted(String name) {
        return new Problem(
                "peer-restarted",
                CONFLICT,
                "The peer has restarted",
                "the engine at the address of '" + name + "' is another run than the directory names",
                "Try again: the directory names the new run within seconds.");
    }

    /** It does not answer in time. */
    public static Problem peerSilent(long millis) {
        return new Problem(
                "peer-silent",
                GATEWAY_TIMEOUT,
                "The peer does not answer",
                "the peer has not answered a question for " + millis + " ms",
                "See whether it is busy or hangs; try again.");
    }

    /** It does not answer as a mover does. */
    public static Problem peerWrong(String detail) {
        return new Problem(
                "peer-wrong",
                BAD_GATEWAY,
                "The peer's answer makes no sense",
                detail,
                "See which version of the program the peer has.");
    }

    /** Blocks that the peer does not have. */
    public static Problem unknownBlocks(String detail) {
        return new Problem(
                "unknown-blocks",
                NOT_FOUND,
                "Some blocks are not there",
                detail,
                "GET /api/blocks with this pool and the peer lists the blocks that it has.");
    }

    /** Pages that do not fit their seals. */
    public static Problem corruptedPages(long pages, String detail) {
        return new Problem(
                "corrupted-pages",
                BAD_GATEWAY,
                "Pages have arrived corrupted",
                pages + " pages do not fit their seals: " + detail,
                "The blocks concerned were not taken in. Compute them again where they come from, and move them again.");
    }

    /** There is no such move. */
    public static Problem unknownMove(String id) {
        return new Problem(
                "unknown-move",
                NOT_FOUND,
                "There is no such move",
                "there is no move '" + id + "', or it ended so long ago that it was forgotten",
                "GET /api/moves lists those that are known.");
    }

    /** It does not answer. */
    public static Problem moverSilent(String mover) {
        return new Problem(
                "mover-silent",
                UNAVAILABLE,
                "The mover does not answer",
                "nobody answers for the mover '" + mover + "'",
                "It may be starting or overloaded: try again in a second.");
    }

    /** Not to be served now. */
    public static Problem tooManyStreams(int most) {
        return new Problem(
                "too-many-streams",
                UNAVAILABLE,
                "Too many clients listen for events",
                most + " clients listen for events, which is the limit",
                "Try again later, or ask GET /api/moves from time to time.");
    }

    /** There is nothing at this path. */
    public static Problem notFound(String path) {
        return new Problem(
                "not-found", NOT_FOUND, "There is nothing here", "nothing is served at " + path, "See /openapi.yaml.");
    }

    /** What an error means to whoever asked. */
    public static Problem of(Throwable error) {
        return switch (error) {
            case ProblemException told -> told.problem();
            case ReplyException reply -> ofReply(reply);
            case ElementsFailedException elements when elements.getCause() != null -> of(elements.getCause());
            case EngineNotFoundException gone ->
                new Problem(
                        "unknown-peer",
                        NOT_FOUND,
                        "There is no such peer",
                        text(gone),
                        "GET /api/peers lists those that the directory knows.");
            case DirectoryUnavailableException down ->
                new Problem(
                        "directory-unavailable",
                        UNAVAILABLE,
                        "The directory does not answer",
                        text(down),
                        "Moves under way go on. Try again when the directory is back.");
            case DirectoryFormatException damaged ->
                new Problem(
                        "directory-damaged",
                        BAD_GATEWAY,
                        "What the directory says cannot be read",
                        text(damaged),
                        "See which version of the program the peer has.");
            case AuthenticationException refused ->
                new Problem(
                        "peer-refused",
                        BAD_GATEWAY,
                        "The peer does not accept this mover",
                        text(refused),
                        "Give both the same SLUICE_TOKEN.");
            case ConnectFailedException unreachable ->
                new Problem(
                        "peer-unreachable",
                        BAD_GATEWAY,
                        "The peer cannot be reached",
                        text(unreachable),
                        "If it has died, the directory forgets it within seconds; try another peer meanwhile.");
            case TransportUnavailableException none ->
                new Problem(
                        "no-common-transport",
                        BAD_GATEWAY,
                        "There is no transport to the peer",
                        text(none),
                        "'sluice info' on both machines lists what they have.");
            case OutcomeUnknownException unknown -> peerLost(text(unknown));
            case ConnectionClosedException closed -> peerLost(text(closed));
            case ConnectionLostException lost -> peerLost(text(lost));
            case TransferTimeoutException late ->
                new Problem("transfer-timeout", GATEWAY_TIMEOUT, "A transfer took too long", text(late), "Try again.");
            case StaleDescriptorException stale -> poolGone(stale);
            case InvalidDescriptorException wrong -> poolGone(wrong);
            case RegionClosedException closed -> poolGone(closed);
            case RegionNotFoundException missing -> poolGone(missing);
            case RemoteAccessException refused -> poolGone(refused);
            case RegistrationException memory ->
                new Problem(
                        "no-memory",
                        INSUFFICIENT_STORAGE,
                        "The memory is not to be had",
                        text(memory),
                        "Ask for a smaller pool, or give the process more memory.");
            case IllegalArgumentException wrong -> impossible(text(wrong));
            default -> internal(error);
        };
    }

    private static Problem poolGone(RuntimeException error) {
        return new Problem(
                "pool-gone",
                CONFLICT,
                "The peer's pool is not there any more",
                text(error),
                "See whether the peer still has the pool, and try again.");
    }

    private static Problem ofReply(ReplyException reply) {
        if (reply.failureType() != ReplyFailure.RECIPIENT_FAILURE) {
            return moverSilent(text(reply));
        }
        try {
            return Problem.fromJson(new JsonObject(text(reply)));
        } catch (DecodeException e) {
            return internal(reply);
        }
    }

    private static Problem internal(Throwable error) {
        LOG.warn("Unexpected", error);
        return new Problem(
                "internal",
                INTERNAL,
                "This program has made a mistake",
                text(error),
                "See its log, and please report it.");
    }

    private static String text(Throwable error) {
        String message = error.getMessage();
        return message == null ? error.getClass().getSimpleName() : message;
    }
}
