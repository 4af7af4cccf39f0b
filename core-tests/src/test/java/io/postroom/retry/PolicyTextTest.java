package io.postroom.retry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.postroom.PostroomException;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PolicyTextTest {

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "quick           | quick",
                "'  linear\t'    | linear",
                "quadratic       | quadratic",
                "exponential     | exponential first=1s attempts=10 cap=1h jitter=0.25 immediate=1",
                "exponential first=60s | exponential first=1m",
                "exponential first=60s | exponential first=1min",
                "exponential first=2h cap=48h | exponential  first=120m   cap=2d",
                "linear attempts=5 step=1s | linear step=1000ms attempts=5",
            })
    void readsTheSamePolicyFromDifferentTexts(String one, String other) {
        assertThat(RetryPolicy.parse(one).describe())
                .isEqualTo(RetryPolicy.parse(other).describe());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "``                         | there is nothing in it; write one of quick, linear, quadratic, exponential",
                "quik                       | there is none named 'quik'; the names are quick, linear, quadratic, exponential;"
                        + " did you mean quick?",
                "Linear                     | there is none named 'Linear'; the names are quick, linear, quadratic, exponential;"
                        + " did you mean linear?",
                "exponental first=1s        | did you mean exponential?",
                "fibonacci                  | there is none named 'fibonacci'; the names are quick, linear, quadratic, exponential",
                "attempts=5                 | there is none named 'attempts=5'",
                "exponential firts=1s       | 'firts' is not a setting of exponential;"
                        + " the settings are first, attempts, immediate, cap, jitter; did you mean first?",
                "linear first=1s            | 'first' is not a setting of linear;"
                        + " the settings are step, attempts, immediate, cap, jitter",
                "quick attempts             | attempts has no value; write attempts=8",
                "quick first                | first has no value; write first=1s",
                "quick attempts=            | attempts is '', which is not a whole number",
                "quick attempts=many        | attempts is 'many', which is not a whole number",
                "quick attempts=-1          | attempts is '-1', which is not a whole number",
                "quick attempts=99999999999 | attempts is '99999999999', which is not a whole number",
                "quick attempts=0           | attempts max is 0, the range is 1 to 1000",
                "quick attempts=5 attempts=6 | attempts is there twice",
                "quick jitter=1.5           | jitter is 1.5, the range is 0 to 1",
                "quick jitter=20%           | jitter is '20%', which is not a share from 0 to 1, such as 0.2",
                "quick jitter=NaN           | jitter is 'NaN', which is not a share from 0 to 1, such as 0.2",
                "quick cap=5                | cap is '5', which is not a duration; write a number and a unit:"
                        + " 500ms, 30s, 5m, 2h or 7d",
                "quick cap=PT5M             | cap is 'PT5M', which is not a duration;",
                "quick cap=31d              | cap is 31 d, the range is 1 ms to 30 d",
                "linear step=10m            | linear step is 10 min, the range is 1 ms to the cap, 4 min",
                "quick first=0s             | exponential first is 0 s, the range is 1 ms to the cap, 5 min",
                "quick =1                   | '' is not a setting of quick",
            })
    void saysWhatIsWrongWithAText(String text, String expected) {
        assertThatThrownBy(() -> RetryPolicy.parse(text))
                .isInstanceOf(PostroomException.class)
                .hasMessageStartingWith("could not read retry policy '" + text + "': ")
                .hasMessageContaining(expected);
    }

    @Test
    void reportsEveryProblemOfATextAtOnce() {
        assertThatThrownBy(() -> RetryPolicy.parse("linear step=x cup=1m attempts=0 jitter=2"))
                .hasMessage("could not read retry policy 'linear step=x cup=1m attempts=0 jitter=2': "
                        + "step is 'x', which is not a duration; write a number and a unit: 500ms, 30s, 5m, 2h or 7d"
                        + "; 'cup' is not a setting of linear; the settings are step, attempts, immediate, cap, jitter"
                        + "; did you mean cap?"
                        + "; attempts max is 0, the range is 1 to 1000"
                        + "; jitter is 2.0, the range is 0 to 1");
    }

    @Test
    void anUnknownNameIsAnsweredWithTheNamesAndTheNearest() {
        assertThatThrownBy(() -> RetryPolicy.named("qiuck"))
                .isInstanceOf(PostroomException.class)
                .hasMessage("could not find retry policy: there is none named 'qiuck';"
                        + " the names are quick, linear, quadratic; did you mean quick?")
                .extracting("code")
                .isEqualTo("retry.policy-unknown");
        assertThatThrownBy(() -> RetryPolicy.named("exponential")).hasMessageContaining("there is none named");
    }

    @ParameterizedTest
    @ValueSource(ints = {501, 1_000_000})
    void aTextHasAnEndAndAnErrorShowsOnlyItsBeginning(int length) {
        String text = "quick\r\n\u001b[31m" + "x".repeat(length - 12);
        assertThatThrownBy(() -> RetryPolicy.parse(text))
                .hasMessageStartingWith("could not read retry policy 'quick xxx")
                .hasMessageEndingWith("x…': it is " + text.length() + " characters, the most is 500")
                .message()
                .hasSizeLessThan(250);
        assertThatThrownBy(() -> RetryPolicy.named(text))
                .message()
                .hasSizeLessThan(250)
                .doesNotContain("\n", "\r", "\u001b");
    }

    @Test
    void takesReactionsAlongWithTheText() {
        RetryPolicy policy = RetryPolicy.parse("linear", Map.of("http.404", Reaction.reject()));
        assertThat(policy.describe()).isEqualTo(RetryPolicy.named("linear").describe() + "; http.404 is rejected");
        assertThatThrownBy(() -> RetryPolicy.parse("linear attempts=0", Map.of("not a class", Reaction.reject())))
                .hasMessageContaining("attempts max is 0")
                .hasMessageContaining("error class is 'not a class'");
    }
}
