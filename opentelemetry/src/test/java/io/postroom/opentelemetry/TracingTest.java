package io.postroom.opentelemetry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.context.Scope;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.data.LinkData;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import io.postroom.Postroom;
import io.postroom.job.Job;
import io.postroom.job.JobFilter;
import io.postroom.job.JobHandler;
import io.postroom.job.JobOutcome;
import io.postroom.job.Workers;
import io.postroom.message.Message;
import io.postroom.relay.Outcome;
import io.postroom.relay.Relay;
import io.postroom.relay.Subscription;
import io.postroom.testkit.Messages;
import io.postroom.testkit.RecordingSink;
import io.postroom.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** From the publication to each delivery, through a database and a relay. */
class TracingTest {
    private final InMemorySpanExporter exporter = InMemorySpanExporter.create();
    private final OpenTelemetry openTelemetry = OpenTelemetrySdk.builder()
            .setTracerProvider(SdkTracerProvider.builder()
                    .addSpanProcessor(SimpleSpanProcessor.create(exporter))
                    .build())
            .build();
    private final Tracing tracing = new Tracing(openTelemetry);
    private TestDatabase database;
    private Postroom postroom;
    private TracedOutbox outbox;

    @BeforeEach
    void open() {
        database = TestDatabase.create();
        postroom = database.postroom();
        outbox = tracing.outbox(postroom.outbox());
    }

    @AfterEach
    void close() {
        database.close();
    }

    @Test
    void aDeliveryIsLinkedToItsPublicationWhichIsAChildOfTheRequest() throws SQLException {
        RecordingSink sink = new RecordingSink();
        Span request = openTelemetry.getTracer("test").spanBuilder("request").startSpan();
        Scope scope = request.makeCurrent();
        try {
            publish(Messages.order("o-1"));
        } finally {
            scope.close();
            request.end();
        }
        try (Relay relay = relay(Subscription.named("billing").build(), sink)) {
            relay.runOnce();
        }

        SpanData publication = only("publish order");
        assertThat(publication.getKind()).isEqualTo(SpanKind.PRODUCER);
        assertThat(publication.getParentSpanId())
                .isEqualTo(request.getSpanContext().getSpanId());
        assertThat(sink.accepted().get(0).headers().get("traceparent"))
                .as("the message carries the context of its publication")
                .contains(publication.getTraceId())
                .contains(publication.getSpanId());
        SpanData delivery = only("send billing");
        assertThat(delivery.getKind()).isEqualTo(SpanKind.CLIENT);
        assertThat(delivery.getTraceId()).isNotEqualTo(publication.getTraceId());
        assertThat(links(delivery)).containsExactly(publication.getSpanId());
        assertThat(delivery.getStatus().getStatusCode()).isEqualTo(StatusCode.UNSET);
        assertThat(delivery.getAttributes().asMap())
                .containsEntry(Conventions.SYSTEM, "postroom")
                .containsEntry(Conventions.OPERATION_TYPE, "send")
                .containsEntry(Conventions.DESTINATION, "billing")
                .containsEntry(
                        Conventions.MESSAGE_ID, sink.accepted().get(0).id().toString())
                .containsEntry(Conventions.EVENT_TYPE, "OrderConfirmed")
                .containsEntry(Conventions.ATTEMPT, 1L)
                .containsEntry(Conventions.POSITION, 1L);
    }

    @Test
    void anAttemptAtAJobIsLinkedToItsEnqueueingWhichIsAChildOfTheRequest() throws Exception {
        Span request = openTelemetry.getTracer("test").spanBuilder("request").startSpan();
        long id;
        Scope scope = request.makeCurrent();
        try (Connection tx = database.begin()) {
            id = tracing.jobs(postroom.jobs()).enqueue(tx, receipt());
            tx.commit();
        } finally {
            scope.close();
            request.end();
        }
        runMail(job -> JobOutcome.done());

        SpanData enqueueing = only("enqueue mail");
        assertThat(enqueueing.getKind()).isEqualTo(SpanKind.PRODUCER);
        assertThat(enqueueing.getParentSpanId())
                .isEqualTo(request.getSpanContext().getSpanId());
        assertThat(enqueueing.getAttributes().asMap())
                .containsEntry(Conventions.SYSTEM, "postroom")
                .containsEntry(Conventions.OPERATION_NAME, "enqueue")
                .containsEntry(Conventions.OPERATION_TYPE, "create")
                .containsEntry(Conventions.DESTINATION, "mail")
                .containsEntry(Conventions.MESSAGE_ID, Long.toString(id))
                .containsEntry(Conventions.JOB_KIND, "receipt.send");
        assertThat(enqueueing.toString()).doesNotContain("visa");
        SpanData attempt = only("process mail");
        assertThat(attempt.getTraceId()).isNotEqualTo(enqueueing.getTraceId());
        assertThat(links(attempt)).containsExactly(enqueueing.getSpanId());
        assertThat(attempt.getAttributes().get(Conventions.MESSAGE_ID)).isEqualTo(Long.toString(id));
    }

    @Test
    void anAttemptAtAJobIsLinkedToWhereItWasEnqueuedWithoutASpanOfItsOwn() throws Exception {
        Span request = openTelemetry.getTracer("test").spanBuilder("request").startSpan();
        Scope scope = request.makeCurrent();
        try (Connection tx = database.begin()) {
            postroom.jobs().enqueue(tx, receipt());
            tx.commit();
        } finally {
            scope.close();
            request.end();
        }
        AtomicReference<String> within = new AtomicReference<>("");
        runMail(job -> {
            within.set(Span.current().getSpanContext().getSpanId());
            return job.attempt() == 1 ? JobOutcome.failed("the visa card was refused") : JobOutcome.done();
        });
        SpanData attempt = only("process mail");
        assertThat(attempt.getKind()).isEqualTo(SpanKind.CONSUMER);
        assertThat(attempt.getTraceId()).isNotEqualTo(request.getSpanContext().getTraceId());
        assertThat(links(attempt)).containsExactly(request.getSpanContext().getSpanId());
        assertThat(within.get()).isEqualTo(attempt.getSpanId());
        assertThat(attempt.getStatus().getStatusCode()).isEqualTo(StatusCode.ERROR);
        assertThat(attempt.getAttributes().asMap())
                .containsEntry(Conventions.OPERATION_TYPE, "process")
                .containsEntry(Conventions.DESTINATION, "mail")
                .containsEntry(Conventions.MESSAGE_ID, "1")
                .containsEntry(Conventions.JOB_KIND, "receipt.send")
                .containsEntry(Conventions.ATTEMPT, 1L);
        assertThat(attempt.toString()).doesNotContain("visa");
    }

    @Test
    void jobsOfOneCallShareASpanAndOneThatBringsItsOwnContextKeepsIt() throws SQLException {
        String own = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        try (Connection tx = database.begin()) {
            tracing.jobs(postroom.jobs())
                    .enqueueAll(
                            tx,
                            List.of(
                                    receipt(),
                                    Job.of("receipt.send", "{}")
                                            .queue("mail")
                                            .header("traceparent", own)
                                            .build()));
            assertThat(tracing.jobs(postroom.jobs()).enqueueAll(tx, List.of())).isEmpty();
            tx.commit();
        }
        SpanData enqueueing = only("enqueue mail");
        assertThat(enqueueing.getAttributes().get(Conventions.BATCH_COUNT)).isEqualTo(2);
        assertThat(postroom.jobBoard().list(JobFilter.ALL, null, 10))
                .extracting(job -> Origin.of(job.headers()).getSpanId())
                .containsExactly("b7ad6b7169203331", enqueueing.getSpanId());
    }

    @Test
    void whatCannotBeEnqueuedIsAnErrorOfItsSpanToo() throws SQLException {
        // Without a transaction.
        try (Connection connection = database.dataSource().getConnection()) {
            assertThatThrownBy(() -> tracing.jobs(postroom.jobs()).enqueue(connection, receipt()))
                    .isInstanceOf(RuntimeException.class);
        }
        assertThat(only("enqueue mail").getStatus().getStatusCode()).isEqualTo(StatusCode.ERROR);
    }

    private static Job receipt() {
        return Job.of("receipt.send", "{\"card\":\"visa\"}").queue("mail").build();
    }

    /** Until one attempt at a job has ended. */
    private void runMail(JobHandler handler) {
        try (Workers workers = postroom.jobs()
                .workers()
                .queue("mail", 1)
                .handle("receipt.send", tracing.job(handler))
                .build()) {
            workers.start();
            long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
            while (spans("process mail").isEmpty() && System.nanoTime() < deadline) {
                LockSupport.parkNanos(10_000_000);
            }
        }
    }

    @Test
    void anAttemptThatFailsSaysOfWhatKindAndNothingElse() throws SQLException {
        RecordingSink sink = new RecordingSink().answer(message -> true, Outcome.rejected("the visa card was refused"));
        publish(Messages.order("o-1"));
        try (Relay relay = relay(Subscription.named("billing").build(), sink)) {
            relay.runOnce();
        }
        SpanData delivery = only("send billing");
        assertThat(delivery.getStatus().getStatusCode()).isEqualTo(StatusCode.ERROR);
        assertThat(delivery.getAttributes().get(Conventions.ERROR_TYPE)).isNotBlank();
        assertThat(delivery.toString()).doesNotContain("visa");
    }

    @Test
    void aHandlerRunsWithinItsSpan() throws SQLException {
        List<SpanContext> within = new ArrayList<>();
        publish(Messages.order("o-1"));
        try (Relay relay = postroom.relay()
                .handle(
                        Subscription.named("mail").build(),
                        tracing.handler(
                                "mail", envelope -> within.add(Span.current().getSpanContext())))
                .build()) {
            relay.runOnce();
        }
        SpanData processing = only("process mail");
        assertThat(processing.getKind()).isEqualTo(SpanKind.CONSUMER);
        assertThat(within).extracting(SpanContext::getSpanId).containsExactly(processing.getSpanId());
        assertThat(links(processing)).containsExactly(only("publish order").getSpanId());
    }

    @Test
    void aBatchOfAProjectionHasALinkToEachOfItsMessages() throws SQLException {
        publish(Messages.order("o-1"));
        publish(Messages.order("o-2"));
        try (Relay relay = postroom.relay()
                .project(Subscription.named("sales").build(), tracing.projection("sales", (tx, batch) -> {}))
                .build()) {
            relay.runOnce();
        }
        assertThat(links(only("process sales")))
                .containsExactlyInAnyOrderElementsOf(
                        spans("publish order").stream().map(SpanData::getSpanId).toList());
    }

    @Test
    void messagesOfOneCallShareASpanAndOneThatBringsItsOwnContextKeepsIt() throws SQLException {
        String own = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        RecordingSink sink = new RecordingSink();
        try (Connection tx = database.begin()) {
            outbox.publishAll(
                    tx, List.of(Messages.order("o-1"), Messages.order("o-2").withHeader("traceparent", own)));
            tx.commit();
        }
        try (Relay relay = relay(Subscription.named("billing").build(), sink)) {
            relay.runOnce();
        }
        SpanData publication = only("publish order");
        assertThat(publication.getAttributes().get(Conventions.BATCH_COUNT)).isEqualTo(2);
        assertThat(spans("send billing"))
                .flatExtracting(TracingTest::links)
                .containsExactlyInAnyOrder(publication.getSpanId(), "b7ad6b7169203331");
    }

    @Test
    void whatCannotBePublishedIsAnErrorOfItsSpanToo() throws SQLException {
        // Without a transaction.
        try (Connection connection = database.dataSource().getConnection()) {
            assertThatThrownBy(() -> outbox.publish(connection, Messages.order("o-1")))
                    .isInstanceOf(RuntimeException.class);
        }
        assertThat(only("publish order").getStatus().getStatusCode()).isEqualTo(StatusCode.ERROR);
    }

    private Relay relay(Subscription subscription, RecordingSink sink) {
        return postroom.relay()
                .deliver(subscription, tracing.sink(subscription.name(), sink))
                .build();
    }

    private void publish(Message message) throws SQLException {
        try (Connection tx = database.begin()) {
            outbox.publish(tx, message);
            tx.commit();
        }
    }

    private List<SpanData> spans(String name) {
        return exporter.getFinishedSpanItems().stream()
                .filter(span -> span.getName().equals(name))
                .toList();
    }

    private SpanData only(String name) {
        assertThat(spans(name)).as(name).hasSize(1);
        return spans(name).get(0);
    }

    private static List<String> links(SpanData span) {
        return span.getLinks().stream()
                .map(LinkData::getSpanContext)
                .map(SpanContext::getSpanId)
                .toList();
    }
}
