package io.postroom.message;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.postroom.PostroomException;
import io.postroom.testkit.Messages;
import java.time.Instant;
import java.time.LocalDate;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class UpcastersTest {
    private static final String TYPE = "order.placed";
    private static final LocalDate DAY = LocalDate.of(2026, 3, 1);

    /** Renames, then adds: two steps to version 3. */
    private static final Upcasters ORDERS = Upcasters.builder()
            .add(TYPE, 1, Upcaster.json(order -> order.set("orderId", order.remove("id"))))
            .add(TYPE, 2, Upcaster.json(order -> order.put("currency", "EUR")))
            .build();

    @Nested
    class Reads {
        @Test
        void anOldVersionAsTheNewest() {
            assertThat(read(ORDERS, message(1, "{\"id\":\"o1\",\"total\":5}")).payload())
                    .isEqualTo("{\"total\":5,\"orderId\":\"o1\",\"currency\":\"EUR\"}");
            assertThat(read(ORDERS, message(2, "{\"orderId\":\"o1\"}")).payload())
                    .isEqualTo("{\"orderId\":\"o1\",\"currency\":\"EUR\"}");
        }

        @Test
        void everythingButPayloadAndVersionAsItWasAndTheHashOfWhatWasPublished() {
            Message old = new Message(
                    UUID.randomUUID(),
                    "acme",
                    "order",
                    "o1",
                    7L,
                    TYPE,
                    1,
                    "{\"id\":1}",
                    Map.of("traceparent", "00-1"),
                    Instant.parse("2026-01-01T00:00:00.123456Z"),
                    Instant.parse("2026-01-02T00:00:00Z"));
            Message read = read(ORDERS, old);
            assertThat(read.eventVersion()).isEqualTo(3);
            assertThat(read)
                    .usingRecursiveComparison()
                    .ignoringFields("payload", "eventVersion", "headers")
                    .isEqualTo(old);
            assertThat(read.headers())
                    .containsAllEntriesOf(old.headers())
                    .containsOnlyKeys("traceparent", PayloadHash.HEADER);
            assertThat(PayloadHash.of(read)).isEqualTo(PayloadHash.of(old));
        }

        @Test
        void theNewestVersionAndUnregisteredTypesAsTheVerySameMessage() {
            Message newest = message(3, "no JSON, and nobody looks");
            assertThat(read(ORDERS, newest)).isSameAs(newest);
            Message other = Message.about("order", "o1")
                    .event("order.shipped")
                    .eventVersion(99)
                    .payload("no JSON")
                    .build();
            assertThat(read(ORDERS, other)).isSameAs(other);
            assertThat(read(Upcasters.NONE, other)).isSameAs(other);
            assertThat(Upcasters.builder().build()).isSameAs(Upcasters.NONE);
            assertThat(Upcasters.NONE.isEmpty()).isTrue();
            assertThat(ORDERS.isEmpty()).isFalse();
        }

        @Test
        void aVersionThatOnlyAllowsMoreWithoutTouchingThePayload() {
            Upcasters upcasters = Upcasters.builder()
                    .add(TYPE, 1, Upcaster.unchanged())
                    .add(TYPE, 2, Upcaster.unchanged())
                    .build();
            Message old = message(1, " { \"a\" : 1.00 } ");
            Message read = read(upcasters, old);
            assertThat(read.payload()).isSameAs(old.payload());
            assertThat(read.eventVersion()).isEqualTo(3);
        }

        @Test
        void noVersionThatANewerReleaseHasWritten() {
            assertThat(ORDERS.read(message(4, "{}"))).isEqualTo(new Reading.TooNew(4, 3));
            assertThat(new Reading.TooNew(4, 3).reason())
                    .isEqualTo("event version is 4, the newest known here is 3;"
                            + " it can be read once this process has the release that wrote it");
            Upcasters declared = Upcasters.builder().newest(TYPE, 2).build();
            assertThat(declared.read(message(Integer.MAX_VALUE, "{}")))
                    .isEqualTo(new Reading.TooNew(Integer.MAX_VALUE, 2));
        }

        @Test
        void noVersionThatNoStepBeginsWith() {
            Upcasters late = Upcasters.builder()
                    .add(TYPE, 3, Upcaster.unchanged())
                    .add(TYPE, 4, Upcaster.unchanged())
                    .newest(TYPE, 5)
                    .build();
            assertThat(unreadable(late, message(1, "{}")).reason())
                    .isEqualTo("could not upcast from version 1: no step from version 1, the first is from 3 to 4");
            assertThat(read(late, message(3, "{}")).eventVersion()).isEqualTo(5);
            Upcasters declared = Upcasters.builder().newest(TYPE, 2).build();
            assertThat(unreadable(declared, message(1, "{}")).reason())
                    .endsWith("no step from version 1, only 2 can be read");
            assertThat(unreadable(declared, message(1, "{}")).errorClass()).isEqualTo("upcast.no-step");
        }
    }

    @Nested
    class Breaks {
        @Test
        void withTheStepAndTheExceptionThatAnUpcasterThrew() {
            Upcasters upcasters = Upcasters.builder()
                    .add(TYPE, 1, Upcaster.unchanged())
                    .add(TYPE, 2, payload -> {
                        throw new IllegalStateException("no\ncurrency");
                    })
                    .build();
            assertThat(upcasters.read(message(1, "{}")))
                    .isEqualTo(new Reading.Broken(
                            2, "java.lang.IllegalStateException", "java.lang.IllegalStateException: no currency"));
            assertThat(unreadable(upcasters, message(1, "{}")).reason())
                    .isEqualTo("could not upcast from version 2: java.lang.IllegalStateException: no currency");
        }

        @Test
        void onErrorsThatAreTheUpcastersOwnFault() {
            assertThat(unreadable(single(payload -> recurse(payload, 0)), message(1, "{}"))
                            .errorClass())
                    .isEqualTo("java.lang.StackOverflowError");
            assertThat(unreadable(
                                    single(payload -> {
                                        throw new NoSuchMethodError("gone");
                                    }),
                                    message(1, "{}"))
                            .reason())
                    .endsWith("java.lang.NoSuchMethodError: gone");
            assertThat(unreadable(
                                    single(payload -> {
                                        throw new AssertionError();
                                    }),
                                    message(1, "{}"))
                            .reason())
                    .endsWith("java.lang.AssertionError");
        }

        @Test
        void nothingOfTheMessageWhenTheProcessIsAtFault() {
            Upcasters upcasters = single(payload -> {
                throw new OutOfMemoryError("not the message's fault");
            });
            assertThatThrownBy(() -> upcasters.read(message(1, "{}"))).isInstanceOf(OutOfMemoryError.class);
        }

        @Test
        void onNull() {
            assertThat(unreadable(single(payload -> null), message(1, "{}")))
                    .isEqualTo(new Reading.Broken(1, "upcast.returned-null", "the upcaster returned null"));
            assertThat(unreadable(single(Upcaster.json(order -> null)), message(1, "{}"))
                            .reason())
                    .endsWith("the upcaster returned null");
        }

        @Test
        void onPayloadsThatCouldNotBePublished() {
            assertBroken("{\"a\":", "message.payload-not-json", "the upcaster's payload is not JSON: line 1, column ");
            assertBroken("", "message.payload-not-json", "the upcaster's payload is empty");
            assertBroken("{} {}", "message.payload-not-json", "the upcaster's payload has more than one JSON value");
            assertBroken("{\"a\":1,\"a\":2}", "message.payload-repeats-key", "the same key twice");
            assertBroken("\"\\u0000\"", "message.payload-nul", "U+0000");
            assertBroken("\"\ud800\"", "message.payload-not-unicode", "half of a surrogate pair");
            assertBroken("[".repeat(101) + "]".repeat(101), "message.payload-too-deep", "deeper than 100");
            assertBroken("1e999", "message.payload-number-too-large", "308 digits");
            int bytes = MessageRules.PAYLOAD_BYTES_MAX + 1;
            assertBroken(
                    '"' + "x".repeat(bytes - 2) + '"',
                    "message.payload-too-large",
                    "the upcaster's payload is " + bytes + " bytes, the limit is " + MessageRules.PAYLOAD_BYTES_MAX);
        }

        @Test
        void andBlamesTheStepThatMadeTheBadPayload() {
            Upcasters upcasters = Upcasters.builder()
                    .add(TYPE, 1, payload -> "{")
                    .add(TYPE, 2, Upcaster.json(order -> order))
                    .build();
            assertThat(upcasters.read(message(1, "{}")))
                    .isInstanceOfSatisfying(
                            Reading.Broken.class,
                            broken -> assertThat(broken.version()).isEqualTo(1));
        }

        @Test
        void withAReasonOfBoundedLength() {
            Upcasters upcasters = single(payload -> {
                throw new IllegalStateException("x".repeat(100_000));
            });
            assertThat(unreadable(upcasters, message(1, "{}")).reason()).hasSizeLessThan(600);
        }

        @Test
        void withoutQuotingThePayload() {
            Upcasters upcasters = single(
                    Upcaster.json(order -> order.put("cents", order.get("total").intValue() * 100)));
            String reason = unreadable(upcasters, message(1, "{\"total\":\"top secret\"}"))
                    .reason();
            assertThat(reason)
                    .doesNotContain("secret")
                    .contains("JsonNodeException at " + getClass().getName());
            assertThat(unreadable(upcasters, message(1, "{\"secret\":1,\"secret\":2}"))
                            .reason())
                    .doesNotContain("secret")
                    .contains("at line 1, column ");
        }

        @ParameterizedTest
        @ValueSource(strings = {"[1]", "null", "\"secret\"", "1"})
        void onAPayloadThatIsNoObjectWhereATreeIsWanted(String payload) {
            assertThat(unreadable(single(Upcaster.json(order -> order)), message(1, payload))
                            .reason())
                    .contains("payload is a JSON ")
                    .endsWith("the upcaster takes an object")
                    .doesNotContain("secret");
        }

        @Test
        void onANumberThatWouldTakeForEverToRead() {
            String payload = "{\"n\":" + "9".repeat(1_000_000) + "}";
            assertThat(unreadable(single(Upcaster.json(order -> order)), message(1, payload))
                            .reason())
                    .contains("StreamConstraintsException");
        }

        private void assertBroken(String payload, String errorClass, String problem) {
            assertThat(single(ignored -> payload).read(message(1, "{}")))
                    .isInstanceOfSatisfying(Reading.Broken.class, broken -> {
                        assertThat(broken.version()).isEqualTo(1);
                        assertThat(broken.errorClass()).isEqualTo(errorClass);
                        assertThat(broken.problem()).contains(problem).doesNotContain("publish message");
                    });
        }
    }

    @Nested
    class TreesKeep {
        @ParameterizedTest
        @ValueSource(
                strings = {
                    "{\"n\":12345678901234567890123456789012345678901234567890}",
                    "{\"n\":0.1000000000000000000000000000000000000000000000000001}",
                    "{\"n\":1.10,\"m\":0.00,\"o\":100.0}",
                    "{\"n\":-9223372036854775809}",
                    "{\"n\":0.30000000000000004}",
                    "{\"z\":1,\"a\":2,\"m\":{\"y\":3,\"b\":[4,{\"d\":5,\"c\":6}]}}",
                    "{\"a\":\"Zoë 東京 🚀 </script>&'/\",\"b\":\"\\\"\\\\\\n\\u0001\"}",
                    "{\"a\":null,\"b\":true,\"c\":{},\"d\":[],\"\":\"\"}"
                })
        void allThatTheyAreNotAskedToChange(String payload) {
            assertThat(read(single(Upcaster.json(tree -> tree)), message(1, payload))
                            .payload())
                    .isEqualTo(payload);
        }

        @Test
        void theValueOfNumbersHoweverTheyAreSpelled() {
            assertThat(read(single(Upcaster.json(tree -> tree)), message(1, "{\"n\":1e300,\"m\":2.50E-7,\"z\":-0.0}"))
                            .payload())
                    .isEqualTo("{\"n\":1E+300,\"m\":2.50E-7,\"z\":0.0}");
        }

        @Test
        void aWholeMegabyte() {
            String payload = Messages.awkwardPayloads().get("1 MB");
            assertThat(read(single(Upcaster.json(tree -> tree)), message(1, payload))
                            .payload())
                    .isEqualTo(payload);
            String name = "n".repeat(900_000);
            assertThat(read(single(Upcaster.json(tree -> tree)), message(1, "{\"" + name + "\":1}"))
                            .payload())
                    .isEqualTo("{\"" + name + "\":1}");
        }
    }

    @Nested
    class Building {
        @Test
        void reportsEveryProblemAtOnce() {
            Upcaster same = Upcaster.unchanged();
            String problems = problems(builder -> builder.add("gap", 1, same)
                    .add("gap", 3, same)
                    .add("gap", 9, same)
                    .add("twice", 1, same)
                    .add("twice", 1, same)
                    .add("low", 1, same)
                    .add("low", 2, same)
                    .newest("low", 2)
                    .add("high", 1, same)
                    .newest("high", 3)
                    .add("zero", 0, same)
                    .add("endless", Integer.MAX_VALUE, same)
                    .newest("nothing", 0)
                    .newest("torn", 2)
                    .newest("torn", 3)
                    .add("no name", 1, same)
                    .newest("x".repeat(201), 1)
                    .add("good", 1, same)
                    .newest("good", 2)
                    .newest("good", 2));
            assertThat(problems)
                    .startsWith("could not build upcasters: ")
                    .contains("gap has no step from version 2;")
                    .contains("gap has no steps from versions 4 to 8;")
                    .contains("twice has two steps from version 1, keep one")
                    .contains("low has version 2 declared as its newest, but its steps lead to 3")
                    .contains("high has no step from version 2")
                    .contains("zero has a step from version 0, the range is 1 to 2147483646")
                    .contains("endless has a step from version 2147483647, the range is 1 to 2147483646")
                    .contains("nothing has version 0 declared as its newest, the least is 1")
                    .contains("torn has several versions declared as its newest, [2, 3], keep one")
                    .contains("event type is 'no name', it must be 1 to 200 letters")
                    .contains("'xxxx")
                    .contains("201 characters")
                    .doesNotContain("good");
        }

        @Test
        void hasLimits() {
            assertThat(problems(builder -> IntStream.rangeClosed(1, Upcasters.STEPS_MAX + 1)
                            .forEach(version -> builder.add("long", version, Upcaster.unchanged()))))
                    .endsWith("long has 1001 steps, the limit is 1000");
            assertThat(problems(builder -> IntStream.rangeClosed(0, Upcasters.EVENT_TYPES_MAX)
                            .forEach(n -> builder.newest("type-" + n, 1))))
                    .endsWith("there are 10001 event types, the limit is 10000");
            assertThat(problems(builder -> IntStream.range(0, 5_000).forEach(n -> builder.newest("type-" + n, 0))))
                    .hasSizeLessThan(10_000)
                    .endsWith("; and 4900 more");
            Upcasters.Builder greatest = Upcasters.builder();
            IntStream.rangeClosed(1, Upcasters.STEPS_MAX)
                    .forEach(version -> greatest.add(TYPE, version, Upcaster.unchanged()));
            assertThat(read(greatest.build(), message(1, "{}")).eventVersion()).isEqualTo(1001);
        }

        @Test
        void takesNoNull() {
            assertThatNullPointerException().isThrownBy(() -> Upcaster.json(null));
            assertThatNullPointerException()
                    .isThrownBy(() -> Upcasters.builder().add(TYPE, 1, null))
                    .withMessage("upcaster");
            assertThatNullPointerException()
                    .isThrownBy(() -> Upcasters.builder().newest(null, 1))
                    .withMessage("eventType");
        }

        @Test
        void leavesWhatWasBuiltAlone() {
            Upcasters.Builder builder = Upcasters.builder().newest(TYPE, 1);
            Upcasters before = builder.build();
            builder.add(TYPE, 1, Upcaster.unchanged());
            assertThat(before.read(message(2, "{}"))).isEqualTo(new Reading.TooNew(2, 1));
        }

        private static String problems(Consumer<Upcasters.Builder> registered) {
            Upcasters.Builder builder = Upcasters.builder();
            registered.accept(builder);
            PostroomException e = catchThrowableOfType(PostroomException.class, builder::build);
            assertThat(e.code()).isEqualTo("upcasters.invalid");
            return e.getMessage();
        }
    }

    @Nested
    class Checks {
        @Test
        void whichStoredVersionsCannotBeRead() {
            Upcasters upcasters = Upcasters.builder()
                    .add(TYPE, 2, Upcaster.unchanged())
                    .newest("paid", 1)
                    .build();
            List<StoredVersion> stored = List.of(
                    stored(TYPE, 1, 1),
                    stored(TYPE, 2, 2),
                    stored(TYPE, 3, 3),
                    stored(TYPE, 4, 312),
                    stored("new", 9, 5));
            assertThat(upcasters.uncovered(stored))
                    .extracting(UpcastCheck::line)
                    .containsExactly(
                            "order.placed version 1: no step from version 1, the first is from 2 to 3; 1 message, 1 dead letter",
                            "order.placed version 4: newer than 3, the newest known here; 312 messages");
            assertThat(upcasters.check(stored))
                    .extracting(UpcastCheck::line)
                    .containsExactly(
                            "order.placed version 1: no step from version 1, the first is from 2 to 3; 1 message, 1 dead letter",
                            "order.placed version 2: read as version 3; 2 messages, 2 dead letters",
                            "order.placed version 3: read as it is; 3 messages",
                            "order.placed version 4: newer than 3, the newest known here; 312 messages",
                            "new version 9: read as it is; 5 messages, 2 dead letters");
            assertThat(Upcasters.NONE.uncovered(stored)).isEmpty();
        }

        private static StoredVersion stored(String eventType, int version, long messages) {
            return new StoredVersion(eventType, version, messages, messages % 3, DAY, DAY.plusDays(3));
        }
    }

    private static String recurse(String payload, int depth) {
        return recurse(payload, depth + 1) + depth;
    }

    private static Upcasters single(Upcaster upcaster) {
        return Upcasters.builder().add(TYPE, 1, upcaster).build();
    }

    private static Message message(int version, String payload) {
        return Message.about("order", "o1")
                .event(TYPE)
                .eventVersion(version)
                .payload(payload)
                .build();
    }

    private static Message read(Upcasters upcasters, Message message) {
        Reading reading = upcasters.read(message);
        assertThat(reading).isInstanceOf(Reading.Read.class);
        return ((Reading.Read) reading).message();
    }

    private static Reading.Unreadable unreadable(Upcasters upcasters, Message message) {
        Reading reading = upcasters.read(message);
        assertThat(reading).isInstanceOf(Reading.Unreadable.class);
        return (Reading.Unreadable) reading;
    }
}
