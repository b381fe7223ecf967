package io.sluice.directory.store;

/**
 * A key and what lies under it.
 *
 * @param key ASCII letters, digits and {@code . _ - ~ : @ /}
 * @param value not copied; nobody changes it
 */
@SuppressWarnings("ArrayRecordComponent")
public record StoredValue(String key, byte[] value) {}
