package io.sluice.samples.compare;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** The bound of a ratio; one of the two is {@code null}. */
@JsonInclude(JsonInclude.Include.NON_NULL)
record Goal(
        @JsonProperty("at_least") @Nullable Double atLeast,
        @JsonProperty("at_most") @Nullable Double atMost) {
    static Goal atLeast(double ratio) {
        return new Goal(ratio, null);
    }

    static Goal atMost(double ratio) {
        return new Goal(null, ratio);
    }

    @JsonIgnore
    boolean isMetBy(double ratio) {
        return (atLeast == null || ratio >= atLeast) && (atMost == null || ratio <= atMost);
    }

    /** Returns the share of the goal that a ratio reaches: 1 or more if it meets it. */
    double shareOf(double ratio) {
        if (atLeast != null) {
            return ratio / atLeast;
        }
        return atMost == null ? 1 : atMost / ratio;
    }

    @Override
    public String toString() {
        return atLeast == null
                ? String.format(Locale.ROOT, "<= %.2f", atMost)
                : String.format(Locale.ROOT, ">= %.2f", atLeast);
    }
}
