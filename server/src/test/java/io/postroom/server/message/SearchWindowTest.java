package io.postroom.server.message;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.LocalDate;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class SearchWindowTest {
    private static List<BrowseTable.Entry> entries(int count, int bytes) {
        LocalDate day = LocalDate.of(2026, 11, 16);
        return LongStream.range(0, count)
                .mapToObj(n -> new BrowseTable.Entry(count - n, n, day, bytes))
                .toList();
    }

    @Test
    void aSearchOfPayloadsEndsWithTheirBytesAndAlwaysGoesOn() {
        assertThat(MessageSearch.light(entries(5_000, 100))).hasSize(5_000);
        assertThat(MessageSearch.light(entries(5_000, 1_000_000))).hasSize(16);
        assertThat(MessageSearch.light(entries(2, 20_000_000))).hasSize(1);
        assertThat(MessageSearch.light(List.of())).isEmpty();
    }
}
