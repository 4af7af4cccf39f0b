package io.postroom.server.web;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SessionTest {
    private static final Instant NOW = Instant.parse("2026-11-16T12:00:00Z");
    private final Session session = new Session(Clock.fixed(NOW, ZoneOffset.UTC));

    @Test
    void readsWhatItHasIssuedAndNothingThatWasChanged() {
        String cookie = session.issue("abc");
        assertThat(session.read(cookie)).map(Session.Ticket::name).contains("abc");
        for (int i = 0; i < cookie.length(); i++) {
            char other = cookie.charAt(i) == 'A' ? 'B' : 'A';
            assertThat(session.read(cookie.substring(0, i) + other + cookie.substring(i + 1)))
                    .as("at %s", i)
                    .isEmpty();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", ".", "...", "a.b.c.d", "a.1.c", "a.99999999999999999999.c.d", "a.-1.c.d"})
    void readsNoOtherWord(String cookie) {
        assertThat(session.read(cookie)).isEmpty();
    }

    @Test
    void ticketsEndAndBelongToTheirProcess() {
        String cookie = session.issue("abc");
        Session later = new Session(Clock.fixed(NOW, ZoneOffset.UTC));
        assertThat(later.read(cookie)).isEmpty();
        Clock[] clock = {Clock.fixed(NOW, ZoneOffset.UTC)};
        Session aging = new Session(new Clock() {
            @Override
            public Instant instant() {
                return clock[0].instant();
            }

            @Override
            public java.time.ZoneId getZone() {
                return ZoneOffset.UTC;
            }

            @Override
            public Clock withZone(java.time.ZoneId zone) {
                return this;
            }
        });
        String aged = aging.issue("abc");
        clock[0] = Clock.offset(clock[0], Session.LIFETIME.minus(Duration.ofSeconds(1)));
        assertThat(aging.read(aged)).isPresent();
        clock[0] = Clock.offset(clock[0], Duration.ofSeconds(1));
        assertThat(aging.read(aged)).isEmpty();
    }

    @Test
    void aTicketThatWasEndedLetsNobodyIn() {
        String cookie = session.issue("anna.b \u00fc");
        String other = session.issue("anna.b \u00fc");
        Session.Ticket ticket = session.read(cookie).orElseThrow();
        assertThat(ticket.name()).isEqualTo("anna.b \u00fc");
        session.end(ticket);
        assertThat(session.read(cookie)).isEmpty();
        assertThat(session.read(other)).isPresent();
    }

    @Test
    void aFormOfOneSessionIsNoneOfAnother() {
        Session.Ticket one = session.read(session.issue("")).orElseThrow();
        Session.Ticket other = session.read(session.issue("")).orElseThrow();
        assertThat(session.isFormToken(one, session.formToken(one))).isTrue();
        assertThat(session.isFormToken(other, session.formToken(one))).isFalse();
        assertThat(session.isFormToken(one, "")).isFalse();
    }
}
