package io.postroom.deadletter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Twenty dead letters of billing, five of them redriven with a patch and ten discarded; five of shipping, all discarded. */
class ResolvedLettersTest {
    private static Graveyard yard;

    @BeforeAll
    static void resolve() {
        yard = new Graveyard().subscribe("billing", 2).subscribe("shipping", 1);
        yard.publishMany("o", 20);
        yard.bury("billing", "true");
        yard.bury("shipping", "j.position <= 5");
        yard.stepToEnd(request(RedriveRequest.redrive(DeadLetterFilter.ofIds(1L, 2L, 3L, 4L, 5L))
                .patch(JsonPatch.parse("[{\"op\":\"add\",\"path\":\"/m\",\"value\":1}]"))));
        yard.stepToEnd(
                request(RedriveRequest.discard(DeadLetterFilter.ofIds(6L, 7L, 8L, 9L, 10L, 16L, 17L, 18L, 19L, 20L))));
        yard.stepToEnd(request(RedriveRequest.discard(DeadLetterFilter.ofOwner("shipping"))));
    }

    @AfterAll
    static void drop() {
        yard.close();
    }

    private static UUID request(RedriveRequest.Builder builder) {
        return yard.redrives
                .request(builder.actor("anna").reason("r").build())
                .request()
                .id();
    }

    private static List<Long> ids(String owner, RedriveAction resolution) {
        DeadLetterFilter filter = DeadLetterFilter.builder().owner(owner).build();
        return yard.letters.listResolved(filter, resolution, null, 100).stream()
                .map(resolved -> resolved.letter().id())
                .toList();
    }

    @Test
    void areListedLastResolvedFirstByWhatBecameOfThem() {
        assertThat(ids("billing", RedriveAction.REDRIVE)).containsExactlyInAnyOrder(1L, 2L, 3L, 4L, 5L);
        assertThat(ids("billing", RedriveAction.DISCARD))
                .containsExactlyInAnyOrder(20L, 19L, 18L, 17L, 16L, 10L, 9L, 8L, 7L, 6L);
        assertThat(ids("billing", null)).hasSize(15);
        assertThat(ids("billing", null).subList(10, 15)).containsExactlyInAnyOrder(1L, 2L, 3L, 4L, 5L);
        assertThat(ids(null, null)).hasSize(20);
        assertThat(ids(null, null).subList(0, 5)).containsExactlyInAnyOrder(21L, 22L, 23L, 24L, 25L);
        assertThat(ids("nobody", null)).isEmpty();
    }

    @Test
    void sayWhoResolvedThemWhenAndHow() {
        ResolvedLetter redriven = yard.letters
                .listResolved(DeadLetterFilter.ofIds(3L), null, null, 1)
                .get(0);
        assertThat(redriven.action()).isEqualTo(RedriveAction.REDRIVE);
        assertThat(redriven.by()).isEqualTo("anna");
        assertThat(redriven.at()).isAfter(redriven.letter().burial().buriedAt());
        assertThat(redriven.redrive()).isNotNull();
        assertThat(redriven.patched()).isTrue();
        assertThat(yard.letters
                        .listResolved(DeadLetterFilter.ofIds(6L), null, null, 1)
                        .get(0)
                        .patched())
                .isFalse();
    }

    @Test
    void pageWithoutGapOrRepetition() {
        List<Long> seen = new ArrayList<>();
        List<ResolvedLetter> page = yard.letters.listResolved(DeadLetterFilter.ALL, null, null, 3);
        while (!page.isEmpty()) {
            page.forEach(resolved -> seen.add(resolved.letter().id()));
            page = yard.letters.listResolved(
                    DeadLetterFilter.ALL,
                    null,
                    page.get(page.size() - 1).letter().id(),
                    3);
        }
        assertThat(seen).hasSize(20).doesNotHaveDuplicates().isEqualTo(ids(null, null));
        assertThatThrownBy(() -> yard.letters.listResolved(DeadLetterFilter.ALL, null, null, 1001))
                .hasMessageContaining("the page is 1001, the range is 1 to 1000");
    }

    @Test
    void areNotMeantByAnActThatNamesThem() {
        assertThat(yard.letters.notMeant(DeadLetterFilter.ofIds(5L, 11L, 12L, 999L)))
                .containsExactly(5L, 999L);
        assertThat(yard.letters.notMeant(DeadLetterFilter.ofOwner("billing"))).isEmpty();
        assertThat(yard.letters.notMeant(DeadLetterFilter.builder()
                        .ids(List.of(11L))
                        .owner("shipping")
                        .build()))
                .containsExactly(11L);
    }
}
