package io.sluice.comm.nccl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.comm.rounds.Gpu;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.MemoryKind;
import io.sluice.engine.ProtocolException;
import io.sluice.engine.RegionMemory;
import io.sluice.engine.contract.OwnMemory;
import io.sluice.engine.transport.CompletionStatus;
import io.sluice.engine.transport.EndpointContext;
import io.sluice.engine.transport.EventLoop;
import io.sluice.engine.transport.ExportedRegion;
import io.sluice.engine.transport.WorkRequest;
import io.sluice.fuzz.ParserFuzz;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** What a peer says, honest or not: its offer, its requests, and its words about groups. */
@ExtendWith(SoftNccl.class)
class NcclFormsTest {
    private static final int SERVES = 4;
    private static final long HANDLE = 7;

    private final OwnMemory memory = new SoftGpuBytes().own(4096, 4096);
    private final List<byte[]> sent = new ArrayList<>();
    private final List<List<Object>> asked = new ArrayList<>();
    private final NcclMemory registration;
    private final RegionMemory region;
    private CompletionStatus answer = CompletionStatus.SUCCESS;
    private int leases;
    private int refused;
    private boolean isFreed;
    private long now = 1;

    NcclFormsTest() {
        this.region = RegionMemory.device(
                MemoryKind.CUDA, Gpu.id(1), ((SoftGpuBytes.Own) memory).made(), 4096, () -> !isFreed);
        this.registration = NcclMemory.of(region, Gpu.id(1));
    }

    @AfterEach
    void free() {
        memory.close();
    }

    private static <T> T face(Class<T> type, InvocationHandler handler) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
    }

    private final ExportedRegion exported =
            face(ExportedRegion.class, (proxy, method, arguments) -> switch (method.getName()) {
                case "acquire" -> {
                    asked.add(Arrays.asList(arguments));
                    leases += answer == CompletionStatus.SUCCESS ? 1 : 0;
                    yield answer;
                }
                case "release" -> {
                    leases--;
                    yield null;
                }
                case "isOpen" -> true;
                case "registration" -> registration();
                case "memory" -> region();
                default -> throw new AssertionError(method);
            });

    private NcclMemory registration() {
        return registration;
    }

    private RegionMemory region() {
        return region;
    }

    private long now() {
        return now;
    }

    private NcclEndpoint endpoint(boolean isFirst) {
        EventLoop loop = face(
                EventLoop.class, (proxy, method, arguments) -> method.getName().equals("now") ? now() : null);
        EngineOptions options =
                EngineOptions.builder().maxServedRequests(SERVES).build();
        EndpointContext context = face(EndpointContext.class, (proxy, method, arguments) -> switch (method.getName()) {
            case "loop" -> loop;
            case "options" -> options;
            case "initiator" -> isFirst;
            case "exportedRegion" -> (long) arguments[0] == HANDLE ? exported : null;
            case "send" -> sent.add((byte[]) arguments[0]);
            case "refused" -> ++refused;
            default -> throw new AssertionError(method);
        });
        NcclLibrary library = NcclLibrary.open(NcclBackendProvider.libraryFile());
        UniqueIds ids = new UniqueIds(library);
        ids.close();
        return (NcclEndpoint) new NcclLoop(loop, library, ids, 0, Gpu.id(0)).endpoint(context);
    }

    private static ByteBuffer request(int code, long handle, long offset, long length) {
        return ByteBuffer.allocate(42)
                .put(NcclParts.REQUEST)
                .put((byte) code)
                .putLong(handle)
                .putLong(2)
                .putLong(3)
                .putLong(offset)
                .putLong(length)
                .flip();
    }

    private List<Integer> answers(NcclEndpoint endpoint) {
        endpoint.flush();
        List<Integer> codes = new ArrayList<>();
        for (byte[] message : sent) {
            for (int i = 0; i < message.length; i += 2) {
                assertThat(message[i]).isEqualTo(NcclParts.ANSWER);
                codes.add((int) message[i + 1]);
            }
        }
        sent.clear();
        return codes;
    }

    @Test
    void requestsAreCheckedAsThePeerMakesThem() {
        NcclEndpoint endpoint = endpoint(false);
        for (CompletionStatus refusal : List.of(
                CompletionStatus.OUT_OF_BOUNDS,
                CompletionStatus.STALE_EPOCH,
                CompletionStatus.BAD_KEY,
                CompletionStatus.ACCESS_DENIED)) {
            answer = refusal;
            endpoint.received(request(NcclParts.WRITE, HANDLE, -1, Long.MAX_VALUE));
            assertThat(answers(endpoint)).containsExactly(refusal.code());
        }
        assertThat(asked)
                .hasSize(4)
                .allSatisfy(each ->
                        assertThat(each).containsExactly(WorkRequest.Opcode.WRITE, 2L, 3L, -1L, Long.MAX_VALUE));
        endpoint.received(request(NcclParts.READ, HANDLE + 1, 0, 8));
        assertThat(answers(endpoint)).containsExactly(CompletionStatus.UNKNOWN_REGION.code());
        assertThat(leases).isZero();
        assertThat(refused).isEqualTo(5);
    }

    @Test
    void leasesEndWithTheConnectionAndWhereThereIsNothingToCarry() {
        NcclEndpoint endpoint = endpoint(false);
        endpoint.received(request(NcclParts.READ, HANDLE, 0, 0));
        assertThat(leases).isZero();
        isFreed = true;
        endpoint.received(request(NcclParts.READ, HANDLE, 0, 8));
        isFreed = false;
        assertThat(leases).isZero();
        endpoint.received(request(NcclParts.READ, HANDLE, 0, 8));
        assertThat(leases).isOne();
        assertThat(answers(endpoint))
                .containsExactly(
                        CompletionStatus.SUCCESS.code(),
                        CompletionStatus.REMOTE_MEMORY_FAULT.code(),
                        CompletionStatus.SUCCESS.code());
        assertThat(endpoint.isQuiescent()).isFalse();
        endpoint.close();
        assertThat(leases).isZero();
        assertThat(endpoint.isQuiescent()).isTrue();
    }

    /** Of the accepting side the connection is open before its communicator has come about. */
    @Test
    void requestsThatWaitForACommunicatorWithoutEndAreNoticed() {
        NcclEndpoint endpoint = endpoint(false);
        assertThat(endpoint.stuckLane(now + 1000, 10)).isNull();
        endpoint.received(request(NcclParts.READ, HANDLE, 0, 8));
        assertThat(endpoint.stuckLane(now + 10, 10)).isNull();
        assertThat(endpoint.stuckLane(now + 11, 10)).contains("not come about");
        now += 1000;
        endpoint.received(ByteBuffer.wrap(new byte[] {NcclParts.GROUP, 1, 0}));
        assertThat(endpoint.stuckLane(now + 10, 10)).isNull();
        assertThat(endpoint.stuckLane(now + 11, 10)).contains("not come about");
    }

    private static void refuses(NcclEndpoint endpoint, String reason, byte... message) {
        assertThatThrownBy(() -> endpoint.received(ByteBuffer.wrap(message)))
                .isInstanceOf(ProtocolException.class)
                .hasMessageContaining(reason);
    }

    @Test
    void wordsAboutNothingAreRefused() {
        NcclEndpoint first = endpoint(true);
        NcclEndpoint second = endpoint(false);
        refuses(first, "answers a request", NcclParts.ANSWER, (byte) 0);
        refuses(first, "forms a group", NcclParts.GROUP, (byte) 0, (byte) 1);
        refuses(second, "forms a group", NcclParts.GROUP, (byte) 1, (byte) 0);
        refuses(second, "forms a group", NcclParts.GROUP, (byte) 0, (byte) 0);
        refuses(second, "forms a group", NcclParts.GROUP, (byte) -1, (byte) 2);
        refuses(
                second,
                "has done group",
                ByteBuffer.allocate(9).put(NcclParts.DONE).putLong(1).array());
        refuses(second, "cut short", NcclParts.DONE, (byte) 0);
        refuses(second, "part of type 9", (byte) 9);
        refuses(second, "request of type 3", request(3, HANDLE, 0, 8).array());
        for (int i = 0; i < 2 * SERVES; i++) {
            second.received(request(NcclParts.READ, HANDLE, 0, 8));
        }
        refuses(
                second,
                "requests under way",
                request(NcclParts.READ, HANDLE, 0, 8).array());
    }

    /** A later one may be of any version, which is a number without a sign. */
    @Test
    void anOfferOfAVersionFarOffIsRead() {
        byte[] offer = new NcclOffer(22809, "GPU-0", 3, new byte[0]).toBytes();
        offer[0] = (byte) 200;
        assertThat(NcclOffer.read(offer).serves()).isEqualTo(3);
    }

    @Test
    void offers() {
        ParserFuzz.of("nccl-offer")
                .valid(
                        new NcclOffer(22809, "GPU-0", 1, new byte[0]).toBytes(),
                        new NcclOffer(22809, Gpu.id(0), 4096, new byte[NcclLibrary.UNIQUE_ID_BYTES]).toBytes())
                .refusesBy(ProtocolException.class)
                .run(input -> assertThat(NcclOffer.read(input).serves()).isPositive());
    }
}
