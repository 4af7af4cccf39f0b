package io.postroom.idempotency.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class KeyHeaderTest {
    static Stream<Arguments> good() {
        return Stream.of(
                Arguments.of("\"8e03978e-40d5-43e8-bc93-6894a57f9324\"", "8e03978e-40d5-43e8-bc93-6894a57f9324"),
                Arguments.of("8e03978e-40d5-43e8-bc93-6894a57f9324", "8e03978e-40d5-43e8-bc93-6894a57f9324"),
                Arguments.of("  \"abc\"  ", "abc"),
                Arguments.of("abc", "abc"),
                Arguments.of("\"a b\"", "a b"),
                Arguments.of("\"a,b;c\"", "a,b;c"),
                Arguments.of("\"a\\\"b\\\\c\"", "a\"b\\c"),
                Arguments.of("\"abc\";v=1;x", "abc"),
                Arguments.of("\"abc\"; v=\"1\"", "abc"),
                Arguments.of("\"abc\";note=\"x y\";a=\"b;c,\\\"d\"", "abc"),
                Arguments.of("\"abc\";a=-1.5;b=*t/x;c=:aGk=:;d=?1", "abc"),
                Arguments.of("aGVsbG8+/w==", "aGVsbG8+/w=="),
                Arguments.of("idem_abc:123/4@x", "idem_abc:123/4@x"),
                Arguments.of("x".repeat(255), "x".repeat(255)),
                Arguments.of('"' + "\\\"".repeat(255) + '"', "\"".repeat(255)));
    }

    @ParameterizedTest
    @MethodSource("good")
    void readsAStringOrAWord(String field, String key) {
        assertThat(KeyHeader.read(List.of(field))).contains(key);
    }

    @Test
    void isNothingIfItIsNotThere() {
        assertThat(KeyHeader.read(List.of())).isEmpty();
    }

    static Stream<Arguments> bad() {
        return Stream.of(
                Arguments.of(List.of("a", "a"), "it is there 2 times; send it once"),
                Arguments.of(List.of("a", "b", "c"), "it is there 3 times"),
                Arguments.of(List.of(""), "it is empty"),
                Arguments.of(List.of("   "), "it is empty"),
                Arguments.of(List.of("\"\""), "it is empty"),
                Arguments.of(List.of("a, b"), "neither a string in quotes nor a word"),
                Arguments.of(List.of("a,b"), "neither a string in quotes nor a word"),
                Arguments.of(List.of("\"a\", \"b\""), "neither a string in quotes nor a word"),
                Arguments.of(List.of("\"a"), "neither a string in quotes nor a word"),
                Arguments.of(List.of("a\""), "neither a string in quotes nor a word"),
                Arguments.of(List.of("\"a\\n\""), "neither a string in quotes nor a word"),
                Arguments.of(List.of("\"a\"b"), "neither a string in quotes nor a word"),
                Arguments.of(List.of("\"a\" ;v"), "neither a string in quotes nor a word"),
                Arguments.of(List.of("\"a\";v=%%"), "neither a string in quotes nor a word"),
                Arguments.of(List.of("\"a\";v=\"x"), "neither a string in quotes nor a word"),
                Arguments.of(List.of("\"a\";V"), "neither a string in quotes nor a word"),
                Arguments.of(List.of("a b"), "neither a string in quotes nor a word"),
                Arguments.of(List.of("a;b"), "neither a string in quotes nor a word"),
                Arguments.of(List.of("a\tb"), "neither a string in quotes nor a word"),
                Arguments.of(List.of("a\u0000"), "neither a string in quotes nor a word"),
                Arguments.of(List.of("\"a\u007f\""), "neither a string in quotes nor a word"),
                Arguments.of(List.of("schl\u00fcssel"), "neither a string in quotes nor a word"),
                Arguments.of(List.of("\ud83d\ude80"), "neither a string in quotes nor a word"),
                Arguments.of(List.of("x".repeat(256)), "it is 256 characters, the limit is 255"),
                Arguments.of(List.of('"' + "x".repeat(256) + '"'), "it is 256 characters, the limit is 255"),
                Arguments.of(List.of("\"" + "\\".repeat(1_000_000)), "the limit is 255"));
    }

    @ParameterizedTest
    @MethodSource("bad")
    void refusesEverythingElseAndSaysWhatToSend(List<String> fields, String problem) {
        assertThatThrownBy(() -> KeyHeader.read(fields))
                .hasMessageStartingWith("could not read the header Idempotency-Key: ")
                .hasMessageContaining(problem)
                .extracting("code")
                .isEqualTo("idempotency.key-invalid");
    }
}
