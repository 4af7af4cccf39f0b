package io.postroom.server.terminal;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ListingTest {
    private static final Listing LISTING = new Listing("name", "lagSeconds", "types", "since", "held")
            .row("a\u001b[31m", Duration.ofMillis(1500), List.of("x", "y"), Instant.EPOCH, true)
            .row("\"b\"", null, null, null, false);

    @Test
    void printsATableForPeopleThatNoTerminalObeys() {
        assertThat(print(LISTING, OutputFormat.TABLE)).isEqualTo("""
                NAME         LAG SECONDS  TYPES  SINCE                 HELD
                a\\u001b[31m         1.5s  x,y    1970-01-01T00:00:00Z  true
                "b"                    -  -      -                     false
                """);
    }

    @Test
    void printsOneArray() {
        assertThat(print(LISTING, OutputFormat.JSON)).isEqualTo("""
                [{"name":"a\\u001B[31m","lagSeconds":1.5,"types":["x","y"],"since":"1970-01-01T00:00:00Z","held":true},
                 {"name":"\\"b\\"","lagSeconds":null,"types":null,"since":null,"held":false}]
                """);
        assertThat(print(new Listing("a"), OutputFormat.JSON)).isEqualTo("[]\n");
    }

    @Test
    void printsOneObjectALine() {
        assertThat(print(LISTING, OutputFormat.JSONL).lines())
                .hasSize(2)
                .allMatch(line -> line.startsWith("{\"name\":"));
        assertThat(print(new Listing("a"), OutputFormat.JSONL)).isEmpty();
    }

    private static String print(Listing listing, OutputFormat format) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        listing.print(new Terminal(out, new PrintStream(out, true, StandardCharsets.UTF_8), Map.of(), false), format);
        return out.toString(StandardCharsets.UTF_8);
    }
}
