package io.postroom.retry;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FingerprintTest {

    private static String of(String message) {
        return Fault.of("test.error", message).fingerprint();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "order 7 not found | order 123456789 not found",
                "order 7 not found | order 018f3c1e-7b6a-7000-8000-446655440000 not found",
                "order 'a' not found | order 'b c' not found",
                "order \"a\" not found | order \"b\" not found",
                "order `a` not found | order 'b' not found",
                "balance is -5.25 | balance is 1,000.00",
                "took 12ms | took 7890ms",
                "at 2026-09-21T10:15:30Z | at 2027-01-02 03:04:05.678+02:00",
                "at 2026-09-21 | at 2027-01-02T00:00:00Z[Europe/Berlin]",
                "at 10:15:30 | at 23:59:59.999",
                "at Mon Sep 21 10:15:30 CEST 2026 | at Fri Jan 01 00:00:00 UTC 2027",
                "connect to /10.0.0.1:5432 refused | connect to /192.168.17.4:6432 refused",
                "connect to [::1]:5432 refused | connect to [fe80::1%eth0]:80 refused",
                "object Order@1a2b3c4d | object Order@ffff0000",
                "hash 0xCAFE | hash 0x1",
                "commit 5bf170bdeadbeef is bad | commit ced23fc01234567890abcdef is bad",
                "id 01J8ZKQ5W7T2M4N6P8R0S1T3V5 is bad | id 01J9AAAAAAAAAAAAAAAAAA1234 is bad",
                "no payment pi_3MtwBwLkdIwHu7ix28a3tqPa | no payment pi_zz11AbCdEfGh22IjKlMn33OpQr",
                "order 1234567 bad | order 12345678901234567890 bad",
                "ids [1, 2, 3] are bad | ids [4] are bad",
                "names \"a\", \"b\" are bad | names \"c\" are bad",
                "can't read order 7, doesn't exist | can't read order 8, doesn't exist",
                "user bob@example.org is unknown | user eve@example.com is unknown",
                "password=hunter2 is wrong | password=hunter3 is wrong",
                "relation \"outbox_20260921\" is gone | relation \"outbox_20260922\" is gone",
            })
    void isTheSameForOneCause(String one, String other) {
        assertThat(of(one))
                .as(Fingerprint.general(one) + " | " + Fingerprint.general(other))
                .isEqualTo(of(other));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "order 7 not found | customer 7 not found",
                "order 7 not found | order 7 not paid",
                "violates unique constraint \"order_pkey\" | violates unique constraint \"customer_pkey\"",
                "column \"a\" of relation \"b\" is gone | column \"a\" of relation \"c\" is gone",
                "Cannot invoke \"A.b()\" because \"c\" is null | Cannot invoke \"A.d()\" because \"e\" is null",
                "Unrecognized field \"a\" | Unrecognized field \"b\"",
                "answered with HTTP 404 | answered with HTTP 500",
                "status: 404 | status: 503",
                "status code 400 | status code 401",
                "can't read, doesn't exist | can't write, doesn't exist",
                "Connection refused | Connection reset",
                "deadbeef | cafebabe",
                "io.grpc.Http2Stream | io.grpc.HttpStream",
                "got error code 401 | got error code 403",
                "a | ~~",
            })
    void differsForDifferentCauses(String one, String other) {
        assertThat(of(one)).as(Fingerprint.general(one)).isNotEqualTo(of(other));
    }

    @Test
    void differsByErrorClassAndByCause() {
        List<Fault> faults = List.of(
                Fault.of("http.500", "broken"),
                Fault.of("http.503", "broken"),
                Fault.of(new IllegalStateException("broken")),
                Fault.of(new IllegalArgumentException("broken")),
                Fault.of(new IllegalStateException("broken", new IllegalArgumentException("a"))),
                Fault.of(new IllegalStateException("broken", new IllegalArgumentException("b"))),
                Fault.of(new IllegalStateException("broken", new ArithmeticException("b"))));
        assertThat(faults.stream().map(Fault::fingerprint).collect(Collectors.toSet()))
                .hasSize(faults.size());
        assertThat(faults).allMatch(fault -> fault.fingerprint().matches("[0-9a-f]{16}"));
    }

    @Test
    void staysTheSameOverReleases() {
        // Dead letters are grouped by it for months: a change here splits every group.
        assertThat(Fault.of("http.503", "order 7 of 'bob' failed at 2026-09-21T10:15:30Z")
                        .fingerprint())
                .isEqualTo("dae09f88256672f0");
    }

    @Test
    void doesNotDependOnLineBreaksAndSpaces() {
        assertThat(of("two lines")).isEqualTo(of("  two\r\n\tlines\n"));
    }

    @Test
    void doesNotDependOnWhereALongMessageIsCut() {
        String tail = " then the disk is full".repeat(200);
        assertThat(of("order 7" + tail)).isEqualTo(of("order 1234567890" + tail));
        String sentence = "row " + "9".repeat(300) + " is bad; ";
        assertThat(of(sentence.repeat(20) + "end")).isEqualTo(of("row 7 is bad; ".repeat(20) + "end"));
    }
}
