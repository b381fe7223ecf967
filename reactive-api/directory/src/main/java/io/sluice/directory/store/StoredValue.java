package io.sluice.directory.store;

/**
 * A key and its value.
 *
 * @param key ASCII letters, digits and {@code . _ - ~ : @ /}
 * @param value not copied; must not be changed
 */
@SuppressWarnings("ArrayRecordComponent")
public record StoredValue(String key, byte[] value) {}
