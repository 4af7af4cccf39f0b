package io.postroom.server.relay;

import io.postroom.PostroomException;
import io.postroom.relay.Sink;
import io.postroom.server.message.LineOutput;
import io.postroom.server.message.MessageLine;
import io.postroom.server.terminal.CommandException;
import io.postroom.server.terminal.Terminal;
import io.postroom.server.terminal.TextFile;
import io.postroom.sink.kafka.KafkaSink;
import io.postroom.sink.webhook.InvalidWebhookException;
import io.postroom.sink.webhook.WebhookSink;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Makes the sinks that a file describes: one per subscription. */
final class Targets {
    private static final List<String> NAMES = List.of("kafka", "webhook", "log");

    /** Of webhooks; more threads than that wait for each other. */
    private static final int CONCURRENCY_MAX = 256;

    /** More than any secret has. */
    private static final int SECRET_BYTES_MAX = 65_536;

    private final Terminal terminal;
    private final LineOutput out;

    Targets(Terminal terminal) {
        this.terminal = terminal;
        this.out = new LineOutput(terminal.out());
    }

    /** The sink of a subscription's block; empty if there is a problem with it. */
    Optional<Sink> of(Section subscription, String node) {
        List<String> given = NAMES.stream().filter(subscription::has).toList();
        if (given.size() != 1) {
            subscription.problem(
                    subscription.line(),
                    subscription.path() + (given.isEmpty() ? " has no target" : " has several targets")
                            + "; give one of kafka, webhook and log");
            return Optional.empty();
        }
        Section target = subscription.section(given.get(0)).orElseThrow();
        Optional<Sink> sink = switch (given.get(0)) {
            case "kafka" -> kafka(target, node);
            case "webhook" -> webhook(target, null).map(Sink.class::cast);
            default -> Optional.of(new LogSink(out, new MessageLine(terminal.interactive())));
        };
        target.close();
        return sink;
    }

    /** Where the sink of a subscription's block, in which there is no problem, connects to. */
    static List<Address> addresses(Section subscription) {
        if (subscription.has("kafka")) {
            return Address.ofList(subscription
                    .section("kafka")
                    .flatMap(target -> target.text("bootstrap-servers"))
                    .orElse(""));
        }
        return subscription.has("webhook")
                ? Address.ofUrl(subscription
                        .section("webhook")
                        .flatMap(target -> target.text("url"))
                        .orElse(""))
                : List.of();
    }

    private static Optional<Sink> kafka(Section target, String node) {
        KafkaSink.Builder builder = KafkaSink.builder().node(node.replaceAll("[^a-zA-Z0-9._-]", "-"));
        target.text("bootstrap-servers").ifPresent(builder::bootstrapServers);
        target.text("topic").ifPresent(builder::topic);
        target.text("source").ifPresent(builder::source);
        target.text("compression").ifPresent(builder::compression);
        target.duration("delivery-timeout", builder::deliveryTimeout);
        target.duration("wait-max", builder::waitMax);
        target.map("properties").forEach(builder::property);
        try {
            return Optional.of(builder.build());
        } catch (IllegalArgumentException e) {
            target.problem(target.line(), target.path() + ": " + e.getMessage());
            return Optional.empty();
        }
    }

    /** A webhook's block, with as many under way at once as the caller uses unless the block says so; null: the sink's own standard. */
    Optional<WebhookSink> webhook(Section target, @Nullable Integer concurrency) {
        WebhookSink.Builder builder = WebhookSink.to(target.text("url").orElse(""));
        if (concurrency != null) {
            builder.concurrency(Math.min(concurrency, CONCURRENCY_MAX));
        }
        secrets(target, builder);
        target.text("cloud-events-source").ifPresent(builder::cloudEvents);
        target.map("headers").forEach(builder::header);
        builder.allowPrivate(target.texts("allow-private").toArray(String[]::new));
        if (target.bool("allow-http")) {
            builder.allowHttp();
        }
        if (target.bool("show-responses")) {
            builder.showResponses();
        }
        target.duration("connect-timeout", builder::connectTimeout);
        target.duration("attempt-timeout", builder::attemptTimeout);
        target.duration("close-timeout", builder::closeTimeout);
        target.duration("retry-after-max", builder::retryAfterMax);
        target.integer("concurrency", builder::concurrency);
        target.integer("waiting-max", builder::waitingMax);
        try {
            return Optional.of(builder.build());
        } catch (InvalidWebhookException e) {
            e.problems().forEach(problem -> target.problem(target.line(), target.path() + ": " + problem));
        } catch (PostroomException | IllegalArgumentException e) {
            target.problem(target.line(), target.path() + ": " + e.getMessage());
        }
        return Optional.empty();
    }

    private void secrets(Section target, WebhookSink.Builder builder) {
        for (Node.Scalar secret : target.scalars("secrets")) {
            if (secret.text() != null && !Variables.isReference(secret.text())) {
                terminal.say("line " + secret.line() + ": " + target.name("secrets")
                        + " holds a secret in plain sight; use ${VARIABLE}, or secret-files");
            }
            builder.secret(target.resolve("secrets", secret));
        }
        for (String file : target.texts("secret-files")) {
            try {
                builder.secret(
                        TextFile.read(file, Path.of(file), SECRET_BYTES_MAX).strip());
            } catch (CommandException | InvalidPathException e) {
                target.problem(target.lineOf("secret-files"), target.name("secret-files") + ": " + e.getMessage());
            }
        }
    }
}
