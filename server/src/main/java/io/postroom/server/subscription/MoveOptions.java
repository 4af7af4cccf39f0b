package io.postroom.server.subscription;

import io.postroom.Postroom;
import io.postroom.server.terminal.AnyText;
import io.postroom.server.terminal.CommandException;
import io.postroom.server.terminal.ExitCode;
import io.postroom.server.terminal.Quoted;
import io.postroom.server.terminal.Suggestion;
import io.postroom.source.ServedBy;
import io.postroom.source.kafka.KafkaMove;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Between what a subscription moves. */
public final class MoveOptions {
    @Option(names = "--to", paramLabel = "TARGET", description = "Who is to serve it: kafka or postgres.")
    private @Nullable String target;

    @Option(
            names = "--bootstrap-servers",
            paramLabel = "HOST:PORT",
            description = "Some brokers, as host:port,host:port.")
    private @Nullable String bootstrapServers;

    @Option(
            names = "--topic",
            paramLabel = "TOPIC",
            description = "A topic that the feed writes to; all of them, each with its own --topic. Back: as it came.")
    private List<String> topics = List.of();

    @Option(
            names = "--feed",
            paramLabel = "NAME",
            description = "The subscription that carries messages to these topics. Back: as it came.")
    private @Nullable String feed;

    @Option(
            names = "--group",
            paramLabel = "NAME",
            description = "The source's group; the subscription's name unless given. Back: as it came.")
    private @Nullable String group;

    @Option(
            names = "--kafka-property",
            converter = {AnyText.class, AnyText.class},
            paramLabel = "NAME=VALUE",
            description = "A property of Kafka's admin client, such as security.protocol=SSL.")
    private Map<String, String> properties = Map.of();

    @Option(
            names = "--accept-loss",
            description = "Move back even though Kafka has deleted what the source had not applied.")
    private boolean acceptLoss;

    @Option(names = "--cancel", description = "End a move that has begun and was not switched.")
    private boolean cancel;

    boolean isCancel() {
        return cancel;
    }

    ServedBy target() {
        if (target == null) {
            throw new CommandException(
                    ExitCode.USAGE, "--to is missing; say where to with --to kafka or --to postgres");
        }
        List<String> known =
                Arrays.stream(ServedBy.values()).map(ServedBy::word).toList();
        return Arrays.stream(ServedBy.values())
                .filter(served -> served.word().equals(target.toLowerCase(Locale.ROOT)))
                .findFirst()
                .orElseThrow(() -> new CommandException(
                        ExitCode.USAGE,
                        "could not read --to: '" + Quoted.text(target, 20) + "' is none of " + known
                                + Suggestion.didYouMean(target, known)));
    }

    KafkaMove build(Postroom postroom) {
        KafkaMove.Builder move = KafkaMove.builder(postroom)
                .bootstrapServers(bootstrapServers == null ? "" : bootstrapServers)
                .topics(topics)
                .feed(feed == null ? "" : feed)
                .group(group)
                .acceptLoss(acceptLoss);
        if (target() == ServedBy.POSTGRES) {
            move.asItCame();
        }
        properties.forEach(move::property);
        try {
            return move.build();
        } catch (IllegalArgumentException e) {
            throw new CommandException(
                    ExitCode.USAGE,
                    String.valueOf(e.getMessage())
                            .replace("bootstrapServers is empty", "--bootstrap-servers is missing")
                            .replace("name them with topics", "name each with --topic")
                            .replace("feed is empty", "--feed is missing"),
                    e);
        }
    }
}
