package io.postroom.opentelemetry;

import io.opentelemetry.api.common.AttributeKey;

/** The names of OpenTelemetry's conventions for messaging, version 1.44.0. They are not stable yet: only this class knows them. */
final class Conventions {
    static final AttributeKey<String> SYSTEM = AttributeKey.stringKey("messaging.system");
    static final AttributeKey<String> OPERATION_NAME = AttributeKey.stringKey("messaging.operation.name");
    static final AttributeKey<String> OPERATION_TYPE = AttributeKey.stringKey("messaging.operation.type");
    static final AttributeKey<String> DESTINATION = AttributeKey.stringKey("messaging.destination.name");
    static final AttributeKey<String> CONSUMER_GROUP = AttributeKey.stringKey("messaging.consumer.group.name");
    static final AttributeKey<String> MESSAGE_ID = AttributeKey.stringKey("messaging.message.id");
    static final AttributeKey<Long> BATCH_COUNT = AttributeKey.longKey("messaging.batch.message_count");
    static final AttributeKey<String> EVENT_ID = AttributeKey.stringKey("cloudevents.event_id");
    static final AttributeKey<String> EVENT_TYPE = AttributeKey.stringKey("cloudevents.event_type");
    static final AttributeKey<String> ERROR_TYPE = AttributeKey.stringKey("error.type");

    /** Ours: the number of the attempt, and the place in the journal. */
    static final AttributeKey<Long> ATTEMPT = AttributeKey.longKey("postroom.attempt");

    /** What a job is for. */
    static final AttributeKey<String> JOB_KIND = AttributeKey.stringKey("postroom.job.kind");

    static final AttributeKey<Long> POSITION = AttributeKey.longKey("postroom.position");

    static final String POSTROOM = "postroom";

    private Conventions() {}
}
