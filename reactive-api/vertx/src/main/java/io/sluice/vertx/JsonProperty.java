package io.sluice.vertx;

import io.vertx.core.json.JsonObject;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.function.ObjIntConsumer;
import java.util.function.ObjLongConsumer;
import java.util.function.ToIntFunction;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * One setting as JSON.
 *
 * @param <S> has the setting
 * @param <T> takes the setting: {@code S} or its builder
 * @param key in the JSON object
 * @param getter gives the JSON value, or {@code null} for none
 * @param setter throws {@link ClassCastException} or {@link ArithmeticException} for a value of another type
 */
record JsonProperty<S, T>(String key, Function<S, @Nullable Object> getter, BiConsumer<T, Object> setter) {

    static <S, T> JsonProperty<S, T> flag(String key, Function<S, Boolean> getter, BiConsumer<T, Boolean> setter) {
        return new JsonProperty<>(key, getter::apply, (to, value) -> setter.accept(to, (Boolean) value));
    }

    static <S, T> JsonProperty<S, T> text(
            String key, Function<S, @Nullable String> getter, BiConsumer<T, String> setter) {
        return new JsonProperty<>(key, getter::apply, (to, value) -> setter.accept(to, (String) value));
    }

    static <S, T> JsonProperty<S, T> count(String key, ToIntFunction<S> getter, ObjIntConsumer<T> setter) {
        return new JsonProperty<>(
                key, getter::applyAsInt, (to, value) -> setter.accept(to, Math.toIntExact(integer(value))));
    }

    static <S, T> JsonProperty<S, T> number(String key, ToLongFunction<S> getter, ObjLongConsumer<T> setter) {
        return new JsonProperty<>(key, getter::applyAsLong, (to, value) -> setter.accept(to, integer(value)));
    }

    void write(S from, JsonObject json) {
        Object value = getter.apply(from);
        if (value != null) {
            json.put(key, value);
        }
    }

    void read(JsonObject json, T to) {
        Object value = json.getValue(key);
        if (value == null) {
            return;
        }
        try {
            setter.accept(to, value);
        } catch (ClassCastException | ArithmeticException e) {
            throw new IllegalArgumentException(key + " cannot be " + value, e);
        }
    }

    static long integer(Object value) {
        if (value instanceof Integer || value instanceof Long || value instanceof Short || value instanceof Byte) {
            return ((Number) value).longValue();
        }
        throw new ClassCastException("not an integer: " + value);
    }
}
