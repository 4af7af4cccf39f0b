package io.postroom.message;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.PostroomException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.function.IntConsumer;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Random chains, payloads and mistakes, from seeds that a failure names. */
class UpcastPropertyTest {
    private static final int ROUNDS = 2_000;
    private static final String TYPE = "order.placed";
    private static final LocalDate DAY = LocalDate.of(2026, 3, 1);

    /** The steps of a chain are applied in their order, each once, from the message's own version on. */
    @Test
    void aMessageGoesThroughTheStepsFromItsVersionToTheNewest() {
        rounds(seed -> {
            Random random = new Random(seed);
            int first = 1 + random.nextInt(5);
            int newest = first + 1 + random.nextInt(8);
            Upcasters.Builder builder = Upcasters.builder();
            List<Integer> order =
                    new ArrayList<>(IntStream.range(first, newest).boxed().toList());
            Collections.shuffle(order, random);
            order.forEach(version -> builder.add(TYPE, version, Upcaster.json(noting(version))));
            Upcasters upcasters = builder.build();

            int version = first + random.nextInt(newest - first);
            String fields = fields(random);
            String payload = "{" + fields + (fields.isEmpty() ? "" : ",") + "\"steps\":[]}";
            Message message = message(version, payload);
            MessageRules.check(message);

            String steps = String.join(
                    ",",
                    IntStream.range(version, newest).mapToObj(Integer::toString).toList());
            Message read = ((Reading.Read) upcasters.read(message)).message();
            assertThat(read.eventVersion()).as("seed %d", seed).isEqualTo(newest);
            assertThat(read.payload()).as("seed %d", seed).isEqualTo(payload.replace("[]", "[" + steps + "]"));
            assertThat(read.id()).isEqualTo(message.id());
        });
    }

    /** A chain is refused exactly if a version within it leads nowhere; and what is stored is covered exactly if it is read. */
    @Test
    void aChainIsBuiltIfAndOnlyIfItHasNoGapAndReadsWhatItsCheckSays() {
        boolean[] seen = new boolean[2];
        rounds(seed -> {
            Random random = new Random(seed);
            Set<Integer> steps = new HashSet<>();
            Upcasters.Builder builder = Upcasters.builder();
            boolean twice = false;
            for (int i = random.nextInt(5); i > 0; i--) {
                int version = 1 + random.nextInt(5);
                twice |= !steps.add(version);
                builder.add(TYPE, version, Upcaster.unchanged());
            }
            Integer declared = steps.isEmpty() || random.nextBoolean() ? 1 + random.nextInt(6) : null;
            if (declared != null) {
                builder.newest(TYPE, declared);
            }
            int end = steps.stream().mapToInt(version -> version + 1).max().orElse(declared == null ? 1 : declared);
            int newest = declared == null ? end : declared;
            int first = steps.stream().mapToInt(version -> version).min().orElse(newest);
            boolean good = !twice && newest == end && steps.size() == newest - first;
            seen[good ? 1 : 0] = true;
            assertThat(isBuilt(builder))
                    .as("seed %d: %s, newest %s", seed, steps, declared)
                    .isEqualTo(good);
            if (good) {
                Upcasters upcasters = builder.build();
                for (int version = 1; version <= newest + 2; version++) {
                    Reading reading = upcasters.read(message(version, "{}"));
                    String as = "seed " + seed + ", version " + version;
                    assertThat(reading instanceof Reading.Read).as(as).isEqualTo(version >= first && version <= newest);
                    assertThat(reading instanceof Reading.TooNew).as(as).isEqualTo(version > newest);
                    assertThat(upcasters.uncovered(List.of(new StoredVersion(TYPE, version, 1, 0, DAY, DAY))))
                            .as(as)
                            .hasSize(reading instanceof Reading.Read ? 0 : 1);
                }
            }
        });
        assertThat(seen).as("refused and built").containsExactly(true, true);
    }

    private static boolean isBuilt(Upcasters.Builder builder) {
        try {
            builder.build();
            return true;
        } catch (PostroomException e) {
            return false;
        }
    }

    private static UnaryOperator<ObjectNode> noting(int version) {
        return tree -> {
            ((ArrayNode) tree.get("steps")).add(version);
            return tree;
        };
    }

    /** Some fields with names and numbers of all kinds, written as a tree writes them. */
    private static String fields(Random random) {
        List<String> fields = new ArrayList<>();
        for (int i = random.nextInt(6); i > 0; i--) {
            fields.add("\"" + (char) ('a' + random.nextInt(26)) + i + "\":" + value(random, 3));
        }
        return String.join(",", fields);
    }

    private static String value(Random random, int depth) {
        switch (random.nextInt(depth == 0 ? 4 : 6)) {
            case 0:
                return new BigInteger(random.nextInt(1_000), random).toString();
            case 1:
                return new BigDecimal(new BigInteger(random.nextInt(900), random), random.nextInt(300)).toString();
            case 2:
                return Long.toString(random.nextLong());
            case 3:
                return "\"" + (random.nextBoolean() ? "é🚀/" : "text") + random.nextInt() + "\"";
            case 4:
                return "[" + value(random, depth - 1) + "," + value(random, depth - 1) + ",null]";
            default:
                return "{\"z\":" + value(random, depth - 1) + ",\"a\":true}";
        }
    }

    private static Message message(int version, String payload) {
        return Message.about("order", "o1")
                .event(TYPE)
                .eventVersion(version)
                .payload(payload)
                .build();
    }

    private static void rounds(IntConsumer round) {
        IntStream.range(0, ROUNDS).forEach(round);
    }
}
