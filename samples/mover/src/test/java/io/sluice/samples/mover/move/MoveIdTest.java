package io.sluice.samples.mover.move;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.vertx.core.json.DecodeException;
import io.vertx.core.json.Json;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The ids of moves. */
class MoveIdTest {

    /** The contract's router reads a parameter as JSON first, even where it is to be a text. */
    @ParameterizedTest
    @ValueSource(longs = {0, 0x12345e, 0x59356e, 0x123456, 0x7f_ffff, 0xffff_ffff_ff99_999eL, -1})
    void isNoNumber(long run) {
        String id = Moves.idPrefix(run) + 1;
        assertThat(id).matches("[a-f][0-9a-f]{5}-1");
        assertThatThrownBy(() -> Json.decodeValue(id)).isInstanceOf(DecodeException.class);
    }
}
