package io.postroom.server.web;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class JsonMaskTest {
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    {"name":"Anna","age":41,"vip":true,"none":null} | {"name":"•••","age":"•••","vip":"•••","none":"•••"}
                    {"a":[1,{"b":"x"},[]],"c":{}}                   | {"a":["•••",{"b":"•••"},[]],"c":{}}
                    "secret"                                        | "•••"
                    1e400                                           | "•••"
                    {"a":"secret                                    | "•••"
                    secret                                          | "•••"
                    """)
    void keepsNamesAndNoValue(String json, String masked) {
        assertThat(JsonMask.of(json)).isEqualTo(masked);
    }
}
