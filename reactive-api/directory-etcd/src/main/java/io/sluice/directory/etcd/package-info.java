/** A directory in etcd: start at {@link io.sluice.directory.etcd.EtcdDirectory}. */
@NullMarked
package io.sluice.directory.etcd;

import org.jspecify.annotations.NullMarked;
