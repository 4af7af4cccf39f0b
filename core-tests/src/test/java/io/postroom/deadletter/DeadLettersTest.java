package io.postroom.deadletter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.postroom.message.Message;
import io.postroom.testkit.Messages;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class DeadLettersTest {
    static Graveyard graveyard;
    static DeadLetters letters;

    /** Twenty of billing, of four tenants and two types; five of shipping. */
    @BeforeAll
    static void bury() {
        graveyard = new Graveyard().subscribe("billing", 4).subscribe("shipping", 2);
        letters = graveyard.letters;
        graveyard.publish(IntStream.range(0, 20)
                .mapToObj(n -> Message.about("order", "o-" + n / 2)
                        .tenantId(n < 4 ? null : "tenant-" + n % 4)
                        .event(n < 10 ? "OrderPlaced" : "OrderPaid")
                        .header("n", Integer.toString(n))
                        .payload(" {\"n\" : " + n + "}\n")
                        .build())
                .toList());
        graveyard.bury("billing", "true");
        graveyard.bury("shipping", "o.event_type = 'OrderPaid' and j.position % 2 = 0", "http.503", "busy", "beef");
        graveyard.database.execute(
                "update postroom.dead_letter set cause = 'rejected' where owner = 'shipping'",
                "update postroom.dead_letter set buried_at = now() - interval '1 day' where owner = 'billing' and position <= 5");
    }

    @AfterAll
    static void drop() {
        graveyard.close();
    }

    @Nested
    class Listed {
        @Test
        void pagesFromTheNewestOnWithoutGapOrRepetition() {
            List<Long> seen = new ArrayList<>();
            List<DeadLetterRow> page = letters.list(DeadLetterFilter.ALL, null, 7);
            while (!page.isEmpty()) {
                page.forEach(row -> seen.add(row.id()));
                page = letters.list(
                        DeadLetterFilter.ALL, page.get(page.size() - 1).id(), 7);
            }
            assertThat(seen).hasSize(25).doesNotHaveDuplicates().isSortedAccordingTo((a, b) -> Long.compare(b, a));
        }

        static Stream<Arguments> filters() {
            Instant hourAgo = Instant.now().minus(Duration.ofHours(1));
            return Stream.of(
                    Arguments.of(DeadLetterFilter.ofOwner("billing"), 20),
                    Arguments.of(DeadLetterFilter.ofOwner("nobody"), 0),
                    Arguments.of(filter().eventTypes(List.of("OrderPlaced")).build(), 10),
                    Arguments.of(
                            filter().eventTypes(List.of("OrderPlaced", "OrderPaid"))
                                    .build(),
                            25),
                    Arguments.of(
                            filter().tenants(List.of("tenant-1"))
                                    .owner("billing")
                                    .build(),
                            4),
                    Arguments.of(
                            filter().aggregateType("order").aggregateId("o-3").build(), 2),
                    Arguments.of(filter().aggregateType("invoice").build(), 0),
                    Arguments.of(filter().errorClass("http.503").build(), 5),
                    Arguments.of(filter().fingerprint("f00d").build(), 20),
                    Arguments.of(filter().cause(Cause.REJECTED).build(), 5),
                    Arguments.of(filter().cause(Cause.CRASHED).build(), 0),
                    Arguments.of(filter().ids(List.of(1L, 2L, 999L)).build(), 2),
                    Arguments.of(filter().buriedFrom(hourAgo).build(), 20),
                    Arguments.of(filter().buriedTo(hourAgo).build(), 5),
                    Arguments.of(filter().buriedTo(hourAgo).owner("shipping").build(), 0));
        }

        private static DeadLetterFilter.Builder filter() {
            return DeadLetterFilter.builder();
        }

        @ParameterizedTest
        @MethodSource("filters")
        void fitsEverythingThatTheFilterNames(DeadLetterFilter filter, int expected) {
            assertThat(letters.list(filter, null, 100)).hasSize(expected);
            assertThat(letters.plan(filter).letters()).isEqualTo(expected);
            assertThat(FilterText.read(FilterText.write(filter))).isEqualTo(filter);
        }

        @Test
        void showsWhatAndWhy() {
            DeadLetterRow row =
                    letters.list(DeadLetterFilter.ofIds(5L), null, 1).get(0);
            assertThat(row.owner()).isEqualTo("billing");
            assertThat(row.position()).isEqualTo(5);
            assertThat(row.key()).isEqualTo(new Message.Key("tenant-0", "order", "o-2"));
            assertThat(row.burial().cause()).isEqualTo(Cause.EXHAUSTED);
            assertThat(row.burial().attempts()).isEqualTo(5);
            assertThat(row.burial().error()).isEqualTo("no such customer");
        }

        @ParameterizedTest
        @ValueSource(ints = {0, -1, 1001})
        void refusesPagesBeyondTheLimit(int limit) {
            assertThatThrownBy(() -> letters.list(DeadLetterFilter.ALL, null, limit))
                    .hasMessageContaining("the page is " + limit + ", the range is 1 to 1000");
            assertThatThrownBy(() -> letters.groups(DeadLetterFilter.ALL, EnumSet.of(GroupBy.KEY), limit))
                    .hasMessageContaining("the range is 1 to 1000");
        }
    }

    @Nested
    class Grouped {
        @Test
        void byWhatWentWrong() {
            List<DeadLetterGroup> groups = letters.groups(DeadLetterFilter.ALL, EnumSet.of(GroupBy.ERROR), 10);
            assertThat(groups).extracting(DeadLetterGroup::letters).containsExactly(20L, 5L);
            DeadLetterGroup first = groups.get(0);
            assertThat(first.errorClass()).isEqualTo("java.lang.IllegalStateException");
            assertThat(first.fingerprint()).isEqualTo("f00d");
            assertThat(first.sampleError()).isEqualTo("no such customer");
            assertThat(first.sampleId()).isEqualTo(20);
            // Each order has two messages of different tenants, but for the first two, which have none.
            assertThat(first.keys()).isEqualTo(18);
            assertThat(first.tenants()).isEqualTo(4);
            assertThat(first.firstBuriedAt()).isBefore(first.lastBuriedAt());
            assertThat(first.owner()).isNull();
            assertThat(first.eventType()).isNull();
        }

        @Test
        void byAnyCombination() {
            List<DeadLetterGroup> groups =
                    letters.groups(DeadLetterFilter.ALL, EnumSet.of(GroupBy.OWNER, GroupBy.TYPE, GroupBy.CAUSE), 10);
            assertThat(groups)
                    .extracting(group ->
                            group.owner() + " " + group.eventType() + " " + group.cause() + " " + group.letters())
                    .containsExactlyInAnyOrder(
                            "billing OrderPlaced EXHAUSTED 10",
                            "billing OrderPaid EXHAUSTED 10",
                            "shipping OrderPaid REJECTED 5");
        }

        @Test
        void byEverySingleDimension() {
            for (GroupBy by : GroupBy.values()) {
                assertThat(letters.groups(DeadLetterFilter.ALL, Set.of(by), 100).stream()
                                .mapToLong(DeadLetterGroup::letters)
                                .sum())
                        .as(by.toString())
                        .isEqualTo(25);
            }
            assertThat(letters.groups(DeadLetterFilter.ofOwner("billing"), Set.of(GroupBy.KEY), 100))
                    .hasSize(18);
            assertThat(letters.groups(DeadLetterFilter.ofOwner("billing"), Set.of(GroupBy.TENANT), 100))
                    .extracting(DeadLetterGroup::tenantId)
                    .containsExactlyInAnyOrder(null, "tenant-0", "tenant-1", "tenant-2", "tenant-3");
        }

        @Test
        void notByNothing() {
            assertThatThrownBy(() -> letters.groups(DeadLetterFilter.ALL, Set.of(), 10))
                    .hasMessageContaining("choose some of [error, type, owner, tenant, key, cause]");
        }
    }

    @Nested
    class Whole {
        @Test
        void hasTheMessageAsItWasSentAndItsHistory() {
            DeadLetter letter = letters.get(7).orElseThrow();
            assertThat(letter.message().payload()).isEqualTo(" {\"n\" : 6}\n");
            assertThat(letter.message().headers()).containsEntry("n", "6");
            assertThat(letter.message().tenantId()).isEqualTo("tenant-2");
            assertThat(letter.history()).contains("node-1");
            assertThat(letter.isOpen()).isTrue();
            assertThat(letter.toString()).contains("dead letter 7").doesNotContain("\"n\"");
        }

        @Test
        void isNotThereIfItNeverWas() {
            assertThat(letters.get(4711)).isEmpty();
        }

        @Test
        void isHandedOverOneByOneInTheOrderOfIds() {
            List<Long> exported = new ArrayList<>();
            letters.export(DeadLetterFilter.ofOwner("billing"), letter -> exported.add(letter.id()));
            assertThat(exported).hasSize(20).isSorted();
            letters.export(DeadLetterFilter.ofOwner("nobody"), letter -> exported.clear());
            assertThat(exported).hasSize(20);
        }

        @Test
        void isHandedOverBeyondOnePageAndEndsAtTheNewestOfNow() {
            try (Graveyard many = new Graveyard().subscribe("many", 1)) {
                many.publishMany("m", 2_500);
                many.bury("many", "true");
                List<Long> exported = new ArrayList<>();
                many.letters.export(DeadLetterFilter.ALL, letter -> {
                    if (exported.isEmpty()) {
                        many.publishMany("late", 10);
                        many.bury("many", "o.aggregate_id like 'late-%'");
                    }
                    exported.add(letter.id());
                });
                assertThat(exported).hasSize(2_500).isSorted().doesNotHaveDuplicates();
            }
        }

        @Test
        void showsWhatAPatchWouldMakeOfIt() {
            List<PatchPreview> previews = letters.preview(
                    DeadLetterFilter.ofOwner("billing"),
                    JsonPatch.parse(
                            "[{\"op\":\"test\",\"path\":\"/n\",\"value\":1},{\"op\":\"add\",\"path\":\"/ok\",\"value\":true}]"),
                    3);
            assertThat(previews).extracting(PatchPreview::id).containsExactly(1L, 2L, 3L);
            assertThat(previews.get(0).problem()).isEqualTo("operation 1 (test /n): the value there is another");
            assertThat(previews.get(1).after()).isEqualTo("{\"n\":1,\"ok\":true}");
            assertThat(previews.get(1).diff())
                    .containsExactly("  {", "-   \"n\" : 1", "+   \"n\" : 1,", "+   \"ok\" : true", "  }");
            assertThatThrownBy(() -> letters.preview(
                            DeadLetterFilter.ALL, JsonPatch.parse("[{\"op\":\"remove\",\"path\":\"/a\"}]"), 101))
                    .hasMessageContaining("the number of samples is 101, the range is 1 to 100");
        }
    }

    static Stream<Arguments> badFilters() {
        return Stream.of(
                Arguments.of(DeadLetterFilter.builder().owner(""), "owner is empty, the range is 1 to 1000"),
                Arguments.of(
                        DeadLetterFilter.builder().aggregateId("x".repeat(1001)), "aggregate id is 1001 characters"),
                Arguments.of(DeadLetterFilter.builder().errorClass("a\u0000"), "without U+0000"),
                Arguments.of(DeadLetterFilter.builder().eventTypes(List.of(" ")), "event type is empty"),
                Arguments.of(
                        DeadLetterFilter.builder()
                                .tenants(IntStream.range(0, 1001)
                                        .mapToObj(n -> "t" + n)
                                        .toList()),
                        "there are 1001 tenants, the limit is 1000"),
                Arguments.of(
                        DeadLetterFilter.builder()
                                .ids(IntStream.range(0, 10_001)
                                        .mapToObj(Long::valueOf)
                                        .toList()),
                        "there are 10001 ids, the limit is 10000"),
                Arguments.of(
                        DeadLetterFilter.builder().buriedFrom(Instant.EPOCH).buriedTo(Instant.EPOCH),
                        "let it begin before it ends"));
    }

    @ParameterizedTest
    @MethodSource("badFilters")
    void refusesAFilterThatCannotBeMeant(DeadLetterFilter.Builder filter, String problem) {
        assertThatThrownBy(filter::build)
                .hasMessageContaining(problem)
                .extracting("code")
                .isEqualTo("deadletter.filter-invalid");
    }

    /** A part left out would mean more dead letters than the operator did. */
    @Test
    void refusesAStoredFilterOfANewerVersion() {
        assertThatThrownBy(() -> FilterText.read("{\"owner\":\"billing\",\"region\":\"eu\"}"))
                .hasMessageContaining("a part named region");
    }

    /** Keys that have seen newer messages than their dead letters. */
    @Nested
    class OrderConflict {
        private static Graveyard yard;

        @BeforeAll
        static void create() {
            yard = new Graveyard();
        }

        @AfterAll
        static void drop() {
            yard.close();
        }

        /** Three messages of each of so many orders; the first of each is buried. */
        private void threeOfEach(int orders) {
            yard.clear().subscribe("billing", 4);
            for (String event : List.of("First", "Second", "Third")) {
                yard.publish(IntStream.range(0, orders)
                        .mapToObj(n -> Message.about("order", "o-" + n)
                                .event(event)
                                .payload("{}")
                                .build())
                        .toList());
            }
            yard.bury("billing", "o.event_type = 'First'");
        }

        private OrderConflicts found() {
            return yard.letters.plan(DeadLetterFilter.ofOwner("billing")).conflicts();
        }

        @Test
        void thereIsNoneWhileTheLanesStandBeforeTheLaterMessages() {
            threeOfEach(10);
            yard.settle("billing", 10);
            assertThat(found()).isEqualTo(OrderConflicts.NONE);
        }

        @Test
        void everyKeyWhoseLaterMessageWasDelivered() {
            threeOfEach(10);
            yard.settle("billing", 15);
            OrderConflicts conflicts = found();
            assertThat(conflicts.keys()).isEqualTo(5);
            assertThat(conflicts.exact()).isTrue();
            assertThat(conflicts.samples())
                    .containsExactlyInAnyOrder("order o-0", "order o-1", "order o-2", "order o-3", "order o-4");
            RedrivePlan plan = yard.letters.plan(DeadLetterFilter.builder()
                    .owner("billing")
                    .aggregateId("o-7")
                    .build());
            assertThat(plan.letters()).isOne();
            assertThat(plan.conflicts().keys()).isZero();
            assertThat(plan.at(0.5)).isEqualTo(Duration.ofSeconds(2));
        }

        @Test
        void notWhereTheLaterOnesWaitOrAreBuriedThemselves() {
            threeOfEach(10);
            yard.settle("billing", 20);
            yard.deliver("billing", "parked", "o.event_type = 'Second' and j.position <= 14");
            yard.bury("billing", "o.event_type = 'Second' and j.position in (15, 16)");
            assertThat(found().keys()).isEqualTo(4);
        }

        @Test
        void notWhereTheSubscriptionDidNotWantTheLaterOnes() {
            threeOfEach(10);
            yard.settle("billing", 30);
            yard.database.execute("update postroom.subscription set event_types = '{First}' where name = 'billing'");
            assertThat(found().keys()).isZero();
            // The last message of a key is unwanted, but not the one before.
            yard.database.execute(
                    "update postroom.subscription set event_types = '{First, Second}' where name = 'billing'");
            assertThat(found().keys()).isEqualTo(10);
            yard.database.execute(
                    "update postroom.subscription set event_types = null, tenants = '{acme}' where name = 'billing'");
            assertThat(found().keys()).isZero();
        }

        @Test
        void notWhereAnotherKeyHasTheSameHash() {
            threeOfEach(2);
            yard.settle("billing", 6);
            yard.database.execute(
                    "delete from postroom.dead_letter where aggregate_id = 'o-1'",
                    // What the journal knows of o-1 looks like o-0 now, and the other way round.
                    "update postroom.journal as j set key_hash = d.key_hash from postroom.dead_letter as d",
                    "delete from postroom.journal where position in (3, 5)");
            assertThat(found().keys()).isZero();
        }

        @Test
        void byTheHashAloneWhereTheOutboxHasItNoMore() {
            threeOfEach(10);
            yard.settle("billing", 20);
            yard.database.execute("delete from postroom.outbox");
            assertThat(found().keys()).isEqualTo(10);
        }

        @Test
        void notOfSubscriptionsThatPromiseNoOrder() {
            threeOfEach(10);
            yard.settle("billing", 30);
            yard.database.execute("update postroom.subscription set ordering = 'none'");
            assertThat(found().keys()).isZero();
        }

        @Test
        void countsWhatWasDeliveredBeforeAReplayBegan() {
            threeOfEach(10);
            yard.settle("billing", 0);
            yard.database.execute("update postroom.lane set replay_to = 5, resume_at = 15");
            assertThat(found().keys()).isEqualTo(5);
        }

        @Test
        void ofEverySubscriptionThatTheFilterMeans() {
            threeOfEach(10);
            yard.subscribe("shipping", 2);
            yard.bury("shipping", "o.event_type = 'First'");
            yard.settle("billing", 30);
            yard.settle("shipping", 12);
            assertThat(yard.letters
                            .plan(DeadLetterFilter.builder()
                                    .eventTypes(List.of("First"))
                                    .build())
                            .conflicts()
                            .keys())
                    .isEqualTo(12);
        }

        @Test
        void isCountedWithoutASubscriptionOrMessages() {
            threeOfEach(3);
            yard.database.execute("delete from postroom.subscription");
            RedrivePlan plan = yard.letters.plan(DeadLetterFilter.ofOwner("billing"));
            assertThat(plan.letters()).isEqualTo(3);
            assertThat(plan.conflicts()).isEqualTo(OrderConflicts.NONE);
            assertThat(yard.letters.plan(DeadLetterFilter.ofOwner("none")))
                    .isEqualTo(new RedrivePlan(0, 0, true, 0, 0, null, null, OrderConflicts.NONE));
        }
    }

    @Test
    void whatIsResolvedIsInNoListAndNoGroupButStaysToBeSeen() {
        try (Graveyard yard = new Graveyard().subscribe("billing", 1)) {
            yard.publish(Messages.ofManyKeys("o", 3));
            yard.bury("billing", "true");
            UUID id = yard.redrives
                    .request(yard.redriveOf("billing").build())
                    .request()
                    .id();
            yard.stepToEnd(id);
            assertThat(yard.letters.list(DeadLetterFilter.ALL, null, 10)).isEmpty();
            assertThat(yard.letters.groups(DeadLetterFilter.ALL, Set.of(GroupBy.ERROR), 10))
                    .isEmpty();
            Resolution resolution = yard.letters.get(1).orElseThrow().resolution();
            assertThat(resolution).isNotNull();
            assertThat(resolution.action()).isEqualTo(RedriveAction.REDRIVE);
            assertThat(resolution.by()).isEqualTo("anna");
            assertThat(resolution.redrive()).isEqualTo(id);
        }
    }
}
