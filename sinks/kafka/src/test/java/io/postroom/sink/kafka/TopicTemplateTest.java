package io.postroom.sink.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.message.Message;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class TopicTemplateTest {

    @ParameterizedTest
    @CsvSource({
        "orders, orders",
        "events.{aggregateType}, events.order",
        "{aggregateType}, order",
        "{aggregateType}-{eventType}, order-order.confirmed",
        "{tenantId}.{aggregateType}.v{eventVersion}, acme.order.v3",
        "{eventType}, order.confirmed",
        "{aggregateType}.{aggregateType}, order.order",
    })
    void putsTheValuesOfTheMessageIntoTheTemplate(String template, String topic) {
        assertThat(destination(template, "acme", "order", "order.confirmed")).isEqualTo(new TopicTemplate.Topic(topic));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "'' | topic is empty",
                ". | not a name that Kafka allows",
                ".. | not a name that Kafka allows",
                "events.{aggregateTyp} | {aggregateTyp}, which is not a placeholder; there are {aggregateType}",
                "events.{} | {}, which is not a placeholder",
                "events.{aggregateType | brace without its partner",
                "events.aggregateType} | brace without its partner",
                "events.{{aggregateType} | brace without its partner",
                "events/{aggregateType} | has '/'; a topic name is made of",
                "events {aggregateType} | has ' '; a topic name is made of",
                "événements | has 'é'; a topic name is made of",
                "{tenantId}{aggregateType} | right after another placeholder",
            })
    void refusesABadTemplate(String template, String problem) {
        List<String> problems = new ArrayList<>();
        TopicTemplate.parse(template, problems);
        assertThat(problems).singleElement().asString().contains(problem);
    }

    @Test
    void refusesATemplateThatIsLongerThanATopicName() {
        List<String> problems = new ArrayList<>();
        TopicTemplate.parse("x".repeat(250), problems);
        assertThat(problems)
                .singleElement()
                .asString()
                .contains("250 characters")
                .contains("at most 249");
    }

    @Test
    void reportsEveryProblemOfATemplate() {
        List<String> problems = new ArrayList<>();
        TopicTemplate.parse("a b.{nope}.{neither}", problems);
        assertThat(problems).hasSize(3);
    }

    @ParameterizedTest
    @CsvSource({
        "order/line, U+002F",
        "order line, U+0020",
        "größe, U+00F6",
        "order:line, U+003A",
        "order🚀, U+1F680",
    })
    void hasNoTopicForAValueThatKafkaDoesNotAllow(String aggregateType, String character) {
        assertThat(reason("events.{aggregateType}", null, aggregateType, "OrderConfirmed"))
                .contains("its aggregate type has the character " + character);
    }

    @Test
    void hasNoTopicForAMessageWithoutTheTenantThatTheTemplateAsksFor() {
        assertThat(reason("{tenantId}.events", null, "order", "OrderConfirmed")).contains("it has no tenant");
    }

    @Test
    void hasNoTopicWhenTheNameWouldBeTooLong() {
        assertThat(reason("events.{aggregateType}", null, "x".repeat(243), "OrderConfirmed"))
                .contains("has 250 characters, a Kafka topic name has at most 249");
        assertThat(destination("events.{aggregateType}", null, "x".repeat(242), "OrderConfirmed"))
                .isInstanceOf(TopicTemplate.Topic.class);
    }

    @ParameterizedTest
    @ValueSource(strings = {".", ".."})
    void hasNoTopicForANameThatIsOnlyDots(String aggregateType) {
        assertThat(reason("{aggregateType}", null, aggregateType, "OrderConfirmed"))
                .contains("does not allow");
    }

    @Test
    void neverLetsTwoTenantsMeetInOneTopic() {
        assertThat(destination("{tenantId}.{aggregateType}", "a", "b.c", "X"))
                .isEqualTo(new TopicTemplate.Topic("a.b.c"));
        assertThat(reason("{tenantId}.{aggregateType}", "a.b", "c", "X"))
                .contains("its tenant a.b has the '.' that ends it")
                .contains("separate them by another character");
        assertThat(destination("{tenantId}-{aggregateType}", "a.b", "c", "X"))
                .isEqualTo(new TopicTemplate.Topic("a.b-c"));
    }

    @Test
    void knowsWhetherAllMessagesGoToOneTopic() {
        assertThat(parse("orders").isFixed()).isTrue();
        assertThat(parse("orders.{eventType}").isFixed()).isFalse();
    }

    private static String reason(String template, @Nullable String tenantId, String aggregateType, String eventType) {
        TopicTemplate.Destination destination = destination(template, tenantId, aggregateType, eventType);
        assertThat(destination).isInstanceOf(TopicTemplate.Nowhere.class);
        return ((TopicTemplate.Nowhere) destination).reason();
    }

    private static TopicTemplate.Destination destination(
            String template, @Nullable String tenantId, String aggregateType, String eventType) {
        return parse(template)
                .destination(Message.about(aggregateType, "4711")
                        .tenantId(tenantId)
                        .event(eventType)
                        .eventVersion(3)
                        .payload("{}")
                        .build());
    }

    private static TopicTemplate parse(String template) {
        List<String> problems = new ArrayList<>();
        TopicTemplate parsed = TopicTemplate.parse(template, problems);
        assertThat(problems).isEmpty();
        return parsed;
    }
}
