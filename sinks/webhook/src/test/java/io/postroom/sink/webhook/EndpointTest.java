package io.postroom.sink.webhook;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class EndpointTest {

    @ParameterizedTest
    @CsvSource({
        "https://example.com,                 https://example.com,        example.com,        /",
        "https://example.com/,                https://example.com,        example.com,        /",
        "HTTPS://Example.COM/Path?Q=1,        https://example.com,        example.com,        /Path?Q=1",
        "https://example.com./x,              https://example.com,        example.com,        /x",
        "https://example.com:8443/x,          https://example.com:8443,   example.com:8443,   /x",
        "https://example.com:443/x,           https://example.com,        example.com,        /x",
        "https://example.com:/x,              https://example.com,        example.com,        /x",
        "https://xn--bcher-kva.example/x,     https://xn--bcher-kva.example, xn--bcher-kva.example, /x",
        "https://1.1.1.1/x,                   https://1.1.1.1,            1.1.1.1,            /x",
        "https://[2606:4700::1111]:8443/x,    https://[2606:4700::1111]:8443, [2606:4700::1111]:8443, /x",
        "https://example.com/%0d%0aX:1,       https://example.com,        example.com,        /%0d%0aX:1",
        "https://example.com?q=1,             https://example.com,        example.com,        /?q=1"
    })
    void readsAUrlInOneSpelling(String url, String origin, String authority, String target) {
        Endpoint endpoint = Endpoint.parse(url);
        assertThat(endpoint.origin()).isEqualTo(origin);
        assertThat(endpoint.authority()).isEqualTo(authority);
        assertThat(endpoint.target()).isEqualTo(target);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                " ",
                "example.com",
                "//example.com/",
                "/hook",
                "https:",
                "https://",
                "https:///hook",
                "https:example.com",
                "https://:443/",
                "https://?q",
                "ftp://example.com/",
                "file:///etc/passwd",
                "gopher://example.com/",
                "jar:https://example.com!/a",
                "javascript:alert(1)",
                "data:text/plain,x",
                "ldap://example.com/",
                "wss://example.com/",
                "https://user:pw@example.com/",
                "https://user@example.com/",
                "https://@example.com/",
                "https://example.com@127.0.0.1/",
                "https://1.1.1.1 &@127.0.0.1#@1.1.1.1/",
                "https://example.com/#fragment",
                "https://example.com/#",
                "https://example.com/a b",
                "https://example.com/\r\nX: 1",
                "https://example.com\r\n.evil.example/",
                "https://example.com/\nX",
                "https://example.com/\u0000",
                "https://example.com\t/",
                " https://example.com/",
                "https://example.com/ü",
                "https://bücher.example/",
                "https://еxample.com/",
                "https://127。0。0。1/",
                "https://①②⑦.0.0.1/",
                "https://example.com\\@127.0.0.1/",
                "https:\\\\example.com/",
                "https://exa_mple.com/",
                "https://-example.com/",
                "https://example-.com/",
                "https://exam%70le.com/",
                "https://127%2e0.0.1/",
                "https://example..com/",
                "https://.example.com/",
                "https://example.com../",
                "https://./",
                "https://example.com:0/",
                "https://example.com:65536/",
                "https://example.com:-1/",
                "https://example.com:99999999999/",
                "https://example.com:443x/",
                "https://example.com:4 43/",
                "https://2130706433/",
                "https://0x7f000001/",
                "https://0x7f.0.0.1/",
                "https://0177.0.0.1/",
                "https://017700000001/",
                "https://127.1/",
                "https://127.0.1/",
                "https://127.0.0.01/",
                "https://127.0.0.1.1/",
                "https://127.0.0.1./",
                "https://127.0.0.256/",
                "https://1.1.1.0x1/",
                "https://00000127.0.0.1/",
                "https://[::1/",
                "https://::1/",
                "https://[]/",
                "https://[fe80::1%25eth0]/",
                "https://[fe80::1%eth0]/",
                "https://[v1.fe80::]/",
                "https://[::ffff:127.0.0.1.1]/",
                "https://[127.0.0.1]/"
            })
    void refusesWhatCouldBeReadInTwoWays(String url) {
        assertThatThrownBy(() -> Endpoint.parse(url))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("url ")
                .hasMessageNotContaining("\n");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "https://127.0.0.1/",
                "https://10.0.0.1/",
                "https://169.254.169.254/latest/meta-data/",
                "https://[::1]/",
                "https://[::ffff:127.0.0.1]/",
                "https://[::ffff:7f00:1]/",
                "https://[::]/",
                "https://[64:ff9b::7f00:1]/",
                "https://[fd00:ec2::254]/",
                "https://[fe80::1]/",
                "https://0.0.0.0/",
                "https://[0:0:0:0:0:0:0:1]/",
                "https://[2002:7f00:1::]/",
                "https://100.64.0.1/",
                "https://224.0.0.1/",
                "https://255.255.255.255/"
            })
    void refusesAPrivateAddressBeforeAnythingIsSent(String url) {
        assertThatThrownBy(() -> WebhookSink.to(url).secret(Sending.SECRET).build())
                .isInstanceOf(InvalidWebhookException.class)
                .hasMessageContaining("url has an address that cannot be sent to");
    }

    @Test
    void refusesALongUrl() {
        assertThatThrownBy(() -> Endpoint.parse("https://example.com/" + "a".repeat(10_000)))
                .hasMessage("url has 10020 characters, the limit is 2048");
        assertThatThrownBy(() -> Endpoint.parse("https://" + "a.".repeat(150) + "example.com/"))
                .hasMessageContaining("the limit is 253");
        assertThatThrownBy(() -> Endpoint.parse("https://" + "a".repeat(64) + ".example.com/"))
                .hasMessageContaining("not a valid name");
    }

    @Test
    void saysHowToWriteAnInternationalName() {
        assertThatThrownBy(() -> Endpoint.parse("https://bücher.example/"))
                .hasMessageEndingWith("write the host as xn--bcher-kva.example");
    }

    @Test
    void repeatsNoCredentialsAndNoPath() {
        assertThatThrownBy(() -> Endpoint.parse("https://user:hunter2@example.com/"))
                .hasMessageNotContaining("hunter2");
        assertThatThrownBy(() -> Endpoint.parse("https://example.com/token-4711 x"))
                .hasMessageNotContaining("4711");
        assertThat(Endpoint.parse("https://example.com/token-4711?key=4711").toString())
                .isEqualTo("https://example.com");
    }
}
