package io.postroom.server.web;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ShownTest {
    @ParameterizedTest
    @CsvSource({
        "50, 50/s",
        "1, 1/s",
        "2.5, 2.5/s",
        "0.08333333333333333, 5/min",
        "0.5, 30/min",
        "0.001, 3.6/h",
        "0.004166666666666667, 15/h"
    })
    void aPaceIsANumberThatCanBeRead(double perSecond, String shown) {
        assertThat(Shown.pace(perSecond)).isEqualTo(shown);
    }
}
