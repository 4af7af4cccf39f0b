package io.postroom.sink.webhook;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.time.Duration;
import java.util.Base64;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class WebhookSettingsTest {
    private static final String URL = "https://example.com/hook";

    @Test
    void reportsEveryProblemAtOnce() {
        InvalidWebhookException invalid = catchThrowableOfType(
                InvalidWebhookException.class,
                () -> WebhookSink.to("ftp://example.com/")
                        .secret("hunter2hunter2hunter2")
                        .secret("whsec_AAAA")
                        .allowPrivate("10.0.0.0/4", "nonsense")
                        .header("Host", "evil.example")
                        .header("x-note", "a\r\nb")
                        .cloudEvents("")
                        .connectTimeout(Duration.ZERO)
                        .attemptTimeout(Duration.ofHours(1))
                        .concurrency(0)
                        .waitingMax(-1)
                        .build());
        assertThat(invalid.code()).isEqualTo("webhook.invalid");
        assertThat(invalid.problems())
                .containsExactly(
                        "url has the scheme ftp; only https is sent to",
                        "range 10.0.0.0/4 has bits set behind its prefix; did you mean 0.0.0.0/4?",
                        "\"nonsense\" is not an address; write it as 192.0.2.1 or 2001:db8::1",
                        "secret begins with neither whsec_ nor whsk_",
                        "secret has 3 bytes after whsec_, it takes 24 to 64",
                        "header host is set by the sink itself",
                        "header x-note has a value that is not printable ASCII of at most 4096 characters",
                        "cloudEvents source is empty; give a URI or a path such as /orders",
                        "connectTimeout is PT0S; it goes from a millisecond to PT5M",
                        "attemptTimeout is PT1H; it goes from a millisecond to PT5M",
                        "concurrency is 0; it goes from 1 to 256",
                        "waitingMax is -1; it goes from 1 to 100000");
        assertThat(invalid).hasMessageNotContaining("hunter2").hasMessageNotContaining("AAAA");
    }

    @Test
    void aUrlAndASecretAreEnough() {
        WebhookSink sink = WebhookSink.to("https://partner.example/hooks/orders")
                .secret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
                .build();
        sink.close();
    }

    @Test
    void neverSendsUnsigned() {
        assertThatThrownBy(() -> WebhookSink.to(URL).build()).hasMessageContaining("secret is missing");
    }

    @Test
    void allowsNoRangeWiderThanPrivateNetworksAre() {
        for (String range : new String[] {"0.0.0.0/0", "128.0.0.0/1", "::/0", "fc00::/6"}) {
            assertThatThrownBy(() -> WebhookSink.to(URL)
                            .secret(Sending.SECRET)
                            .allowPrivate(range)
                            .build())
                    .hasMessageContaining("is too wide");
        }
        WebhookSink.to(URL)
                .secret(Sending.SECRET)
                .allowPrivate("10.0.0.0/8", "fc00::/7")
                .build()
                .close();
    }

    @Test
    void allowsHttpOnlyTogetherWithAddresses() {
        assertThatThrownBy(() -> WebhookSink.to("http://example.com/")
                        .secret(Sending.SECRET)
                        .build())
                .hasMessageContaining("url has the scheme http; use https");
        assertThatThrownBy(() -> WebhookSink.to("http://example.com/")
                        .secret(Sending.SECRET)
                        .allowPrivate("10.0.0.0/8")
                        .build())
                .hasMessageContaining("url has the scheme http; use https");
        assertThatThrownBy(() -> WebhookSink.to("http://example.com/")
                        .secret(Sending.SECRET)
                        .allowHttp()
                        .build())
                .hasMessageContaining("allowHttp is set without allowPrivate");
    }

    @ParameterizedTest
    @CsvSource({"23, false", "24, true", "64, true", "65, false"})
    void takesSecretsOf24To64Bytes(int length, boolean good) {
        String secret = "whsec_" + Base64.getEncoder().encodeToString(new byte[length]);
        if (good) {
            assertThat(SigningKey.parse(secret).toString()).isEqualTo("whsec_***");
        } else {
            assertThatThrownBy(() -> SigningKey.parse(secret)).hasMessageContaining(length + " bytes");
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "whsec_",
                "whsec_!!!!",
                "WHSEC_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
                "whsk_",
                "whsk_AAAA",
                "whpk_AAAA",
                "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
                " whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
                "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n"
            })
    void refusesSecretsInAnotherFormWithoutRepeatingThem(String secret) {
        assertThatThrownBy(() -> SigningKey.parse(secret))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageNotContaining("MfKQ9r8")
                .hasNoCause();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "bad name",
                "bad:name",
                "bad\r\nname",
                "näme",
                "Content-Length",
                "Transfer-Encoding",
                "Connection",
                "webhook-id",
                "Webhook-Signature",
                "ce-id",
                "postroom-replay",
                "HOST"
            })
    void refusesHeadersThatAreNotTheUsersToSet(String name) {
        assertThatThrownBy(() -> WebhookSink.to(URL)
                        .secret(Sending.SECRET)
                        .header(name, "x")
                        .build())
                .isInstanceOf(InvalidWebhookException.class)
                .hasMessageNotContaining("\n");
    }
}
