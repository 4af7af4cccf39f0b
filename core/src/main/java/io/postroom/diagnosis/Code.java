package io.postroom.diagnosis;

/** The reasons there are. Their words never change; docs/operating tells more about each. */
public enum Code {
    NOT_FOUND("why.not-found"),
    NOT_FOUND_IN_TIME("why.not-found-in-time"),
    PARTITION_GONE("why.partition-gone"),
    TRANSACTION_OPEN("why.transaction-open"),
    NOT_STAMPED("why.not-stamped"),
    POSITION_UNKNOWN("why.position-unknown"),
    NO_SUBSCRIPTION("why.no-subscription"),
    FILTERED_OUT("why.filtered-out"),
    DELIVERED("why.delivered"),
    BEFORE_BEGIN("why.before-begin"),
    SKIPPED("why.skipped"),
    DISCARDED("why.discarded"),
    BEYOND_COPY("why.beyond-copy"),
    DEAD_LETTER("why.dead-letter"),
    HELD("why.held"),
    UNREADABLE("why.unreadable"),
    PARKED("why.parked"),
    SCHEDULED("why.scheduled"),
    WAITING("why.waiting"),
    SENDING("why.sending"),
    AHEAD("why.ahead"),
    PAUSED("why.paused"),
    SERVED_ELSEWHERE("why.served-elsewhere"),
    LANES_CHANGING("why.lanes-changing"),
    REPLAYING("why.replaying"),
    NO_RELAY("why.no-relay"),
    LANE_WITHOUT_OWNER("why.lane-without-owner"),
    CIRCUIT_OPEN("why.circuit-open");

    private final String word;

    Code(String word) {
        this.word = word;
    }

    /** As programs read it: {@code why.parked}. */
    public String word() {
        return word;
    }
}
