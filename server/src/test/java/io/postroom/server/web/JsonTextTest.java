package io.postroom.server.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.testkit.Messages;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.json.JsonMapper;

class JsonTextTest {
    @Test
    void laysOutWithoutChangingAnything() {
        assertThat(JsonText.pretty("{\"a\": 12345678901234567890.1200, \"b\":[ ],\"c\":[1,{\"d\":\"x,{}\\\"[\"}] }"))
                .isEqualTo("""
                        {
                          "a": 12345678901234567890.1200,
                          "b": [],
                          "c": [
                            1,
                            {
                              "d": "x,{}\\"["
                            }
                          ]
                        }""");
    }

    @Test
    void keepsAwkwardPayloadsEqual() {
        JsonMapper json = JsonMapper.shared();
        Messages.awkwardPayloads()
                .forEach((name, payload) -> assertThat(json.readTree(JsonText.pretty(payload, 100_000_000)))
                        .as(name)
                        .isEqualTo(json.readTree(payload)));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {"]]]]}} | ]", "\"abc | abc", "\"abc\\ | abc", "{ | {", "plain | plain"})
    void survivesWhatIsNoJson(String text, String part) {
        assertThat(JsonText.pretty(text)).contains(part);
    }

    @Test
    void showsOnlyTheBeginningOfWhatIndentsMakeHuge() {
        String json = "[".repeat(99) + "1" + ",1".repeat(500_000) + "]".repeat(99);
        String shown = JsonText.pretty(json);
        assertThat(shown).hasSizeLessThan(JsonText.LENGTH_MAX + 10).endsWith("\n…");
        assertThat(JsonText.isCut(shown)).isTrue();
        assertThat(JsonText.isCut(JsonText.pretty("[1,2]"))).isFalse();
    }
}
