package io.sluice.samples.trace;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.core.json.JsonReadFeature;
import io.sluice.samples.kvcache.BlockHashes;
import io.sluice.samples.kvcache.TokenLayout;
import java.io.IOException;
import java.math.BigInteger;
import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Makes a request of one line of a Mooncake trace: a JSON object with {@code timestamp} (milliseconds, with
 * decimals or without), {@code input_length} and {@code output_length} (tokens) and {@code hash_ids} (of 64 bits, with a sign
 * or without). Other fields are ignored.
 */
final class RequestParser {
    /** The longest input or output that is believed, in tokens: well above any context window. */
    static final int MAX_TOKENS = 1 << 24;

    /** The largest timestamp that is believed, in milliseconds: what every JSON reader represents exactly. */
    static final long MAX_TIMESTAMP = (1L << 53) - 1;

    private static final int MAX_BLOCKS = MAX_TOKENS / TokenLayout.BLOCK_TOKENS;

    private static final JsonFactory JSON = JsonFactory.builder()
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            // Let through, so that a field with NaN in it is named instead of refused as bad JSON.
            .enable(JsonReadFeature.ALLOW_NON_NUMERIC_NUMBERS)
            // Names come from files of unknown origin: they must not stay in the JVM's string table.
            .disable(JsonFactory.Feature.INTERN_FIELD_NAMES)
            .build();

    private static final long MISSING = -1;

    private long timestamp;
    private long inputLength;
    private long outputLength;
    private boolean hashesSeen;
    private long[] hashes = new long[64];
    private int hashCount;

    TraceRequest parse(byte[] line) throws MalformedLineException {
        timestamp = MISSING;
        inputLength = MISSING;
        outputLength = MISSING;
        hashesSeen = false;
        hashCount = 0;
        try (JsonParser json = JSON.createParser(line)) {
            readObject(json);
        } catch (JsonProcessingException e) {
            throw new MalformedLineException("bad JSON" + column(e) + ": " + reason(e));
        } catch (IOException e) {
            throw new MalformedLineException("bad JSON: not UTF-8 text");
        }
        return request();
    }

    private void readObject(JsonParser json) throws IOException, MalformedLineException {
        if (json.nextToken() != JsonToken.START_OBJECT) {
            throw new MalformedLineException("not a JSON object");
        }
        while (json.nextToken() == JsonToken.FIELD_NAME) {
            String field = json.currentName();
            json.nextToken();
            switch (field) {
                case "timestamp" -> timestamp = timestamp(json);
                case "input_length" -> inputLength = number(json, "input_length", 1, MAX_TOKENS);
                case "output_length" -> outputLength = number(json, "output_length", 0, MAX_TOKENS);
                case "hash_ids" -> readHashes(json);
                default -> json.skipChildren();
            }
        }
        if (json.nextToken() != null) {
            throw new MalformedLineException("more than one JSON value on the line");
        }
    }

    private void readHashes(JsonParser json) throws IOException, MalformedLineException {
        if (json.currentToken() != JsonToken.START_ARRAY) {
            throw new MalformedLineException("hash_ids is " + kind(json) + ", not an array");
        }
        hashesSeen = true;
        while (json.nextToken() != JsonToken.END_ARRAY) {
            if (hashCount == MAX_BLOCKS) {
                throw new MalformedLineException("hash_ids has more than " + MAX_BLOCKS + " elements");
            }
            if (hashCount == hashes.length) {
                hashes = Arrays.copyOf(hashes, hashCount * 2);
            }
            hashes[hashCount] = hash(json);
            hashCount++;
        }
    }

    /** To the nearest millisecond. */
    private static long timestamp(JsonParser json) throws IOException, MalformedLineException {
        if (json.currentToken() != JsonToken.VALUE_NUMBER_FLOAT || json.isNaN()) {
            return number(json, "timestamp", 0, MAX_TIMESTAMP);
        }
        double value = json.getDoubleValue();
        if (value < 0 || value > MAX_TIMESTAMP) {
            throw outOfRange(json, "timestamp", "0", Long.toString(MAX_TIMESTAMP));
        }
        return Math.round(value);
    }

    /** The 64 bits of a hash: one above the largest signed number is that of an unsigned one. */
    private static long hash(JsonParser json) throws IOException, MalformedLineException {
        if (json.currentToken() == JsonToken.VALUE_NUMBER_INT
                && json.getNumberType() == JsonParser.NumberType.BIG_INTEGER) {
            BigInteger value = json.getBigIntegerValue();
            if (value.signum() < 0 || value.bitLength() > Long.SIZE) {
                throw outOfRange(json, "hash_ids", Long.toString(Long.MIN_VALUE), Long.toUnsignedString(-1));
            }
            return value.longValue();
        }
        return number(json, "hash_ids", Long.MIN_VALUE, Long.MAX_VALUE);
    }

    private static MalformedLineException outOfRange(JsonParser json, String field, String min, String max)
            throws IOException {
        return new MalformedLineException(
                field + " has " + excerpt(json) + ", which is not between " + min + " and " + max);
    }

    private static long number(JsonParser json, String field, long min, long max)
            throws IOException, MalformedLineException {
        if (json.currentToken() != JsonToken.VALUE_NUMBER_INT) {
            throw new MalformedLineException(field + " has " + kind(json) + " where a "
                    + (field.equals("timestamp") ? "number" : "whole number") + " belongs");
        }
        boolean fits = json.getNumberType() != JsonParser.NumberType.BIG_INTEGER;
        long value = fits ? json.getLongValue() : 0;
        if (!fits || value < min || value > max) {
            throw outOfRange(json, field, Long.toString(min), Long.toString(max));
        }
        return value;
    }

    private TraceRequest request() throws MalformedLineException {
        String missing = Stream.of(
                        timestamp == MISSING ? "timestamp" : "",
                        inputLength == MISSING ? "input_length" : "",
                        outputLength == MISSING ? "output_length" : "",
                        hashesSeen ? "" : "hash_ids")
                .filter(field -> !field.isEmpty())
                .collect(Collectors.joining(", "));
        if (!missing.isEmpty()) {
            throw new MalformedLineException("missing " + missing);
        }
        int blocks = TokenLayout.blocks((int) inputLength);
        if (hashCount != blocks) {
            throw new MalformedLineException("hash_ids has " + hashCount + " elements, but an input_length of "
                    + inputLength + " is " + blocks + " blocks of " + TokenLayout.BLOCK_TOKENS + " tokens");
        }
        return new TraceRequest(
                timestamp, (int) inputLength, (int) outputLength, BlockHashes.firstOf(hashes, hashCount));
    }

    private static String kind(JsonParser json) throws IOException {
        return switch (json.currentToken()) {
            case VALUE_NUMBER_FLOAT, VALUE_NUMBER_INT -> excerpt(json);
            case VALUE_STRING -> "a string";
            case START_OBJECT -> "an object";
            case START_ARRAY -> "an array";
            case null -> "nothing";
            default -> json.currentToken().name().replace("VALUE_", "").toLowerCase(Locale.ROOT);
        };
    }

    /** The current number as it was written, cut to a length that fits a message. */
    private static String excerpt(JsonParser json) throws IOException {
        String text = json.getText();
        return text.length() <= 40 ? text : text.substring(0, 40) + "…";
    }

    private static String column(JsonProcessingException e) {
        return e.getLocation() == null ? "" : " at column " + e.getLocation().getColumnNr();
    }

    /**
     * Returns the JSON parser's message without the positions it adds, since to it every line of the trace is line 1, and
     * without the names of its options.
     */
    private static String reason(JsonProcessingException e) {
        String message = e.getOriginalMessage().lines().findFirst().orElse("");
        int position = message.indexOf(" (start marker at");
        String kept = position < 0 ? message : message.substring(0, position);
        return kept.replaceAll(", from `[^`]*`", "");
    }

    /** A line is no request; the message says why, without naming the line. */
    static final class MalformedLineException extends Exception {
        private static final long serialVersionUID = 1L;

        MalformedLineException(String reason) {
            super(reason);
        }
    }
}
