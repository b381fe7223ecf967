package io.sluice.directory.etcd;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Txn;
import io.etcd.jetcd.common.exception.ErrorCode;
import io.etcd.jetcd.common.exception.EtcdExceptionFactory;
import io.etcd.jetcd.kv.TxnResponse;
import io.etcd.jetcd.op.Cmp;
import io.etcd.jetcd.op.CmpTarget;
import io.etcd.jetcd.op.Op;
import io.etcd.jetcd.options.PutOption;
import io.sluice.directory.store.StoreLease;
import io.sluice.directory.store.StoredValue;
import java.util.List;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** A lease of etcd. Storing a key under another lease detaches it from the first. */
final class EtcdLease implements StoreLease {
    private final EtcdStore store;
    private final long id;

    EtcdLease(EtcdStore store, long id) {
        this.store = store;
        this.id = id;
    }

    private PutOption underThis() {
        return PutOption.builder().withLeaseId(id).build();
    }

    @Override
    public Mono<Void> put(List<StoredValue> values) {
        return Flux.fromIterable(values)
                .concatMap(value -> store.request(client -> client.getKVClient()
                        .put(store.key(value.key()), ByteSequence.from(value.value()), underThis())))
                .then();
    }

    @Override
    public Mono<Boolean> replace(String key, byte @Nullable [] expected, byte[] value) {
        ByteSequence where = store.key(key);
        Cmp isExpected = expected == null
                ? new Cmp(where, Cmp.Op.EQUAL, CmpTarget.version(0))
                : new Cmp(where, Cmp.Op.EQUAL, CmpTarget.value(ByteSequence.from(expected)));
        return store.request(client -> {
                    Txn transaction = client.getKVClient().txn();
                    return transaction.If(isExpected)
                            .Then(Op.put(where, ByteSequence.from(value), underThis()))
                            .commit();
                })
                .map(TxnResponse::isSucceeded);
    }

    @Override
    public Mono<Boolean> keepAlive() {
        return store.request(client -> client.getLeaseClient().keepAliveOnce(id))
                .map(renewed -> renewed.getTTL() > 0)
                .onErrorResume(EtcdLease::isGone, gone -> Mono.just(false));
    }

    @Override
    public Mono<Void> revoke() {
        return store.request(client -> client.getLeaseClient().revoke(id))
                .then()
                .onErrorResume(EtcdLease::isGone, gone -> Mono.empty());
    }

    private static boolean isGone(Throwable error) {
        return EtcdExceptionFactory.toEtcdException(error).getErrorCode() == ErrorCode.NOT_FOUND;
    }
}
