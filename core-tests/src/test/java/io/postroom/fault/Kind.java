package io.postroom.fault;

/** How a message behaves when it is handled; the type of its event says which. */
enum Kind {
    /** It is accepted. */
    GOOD,
    /** It is accepted, but not before a moment after it was published. */
    LATER,
    /** Its first attempt fails. */
    ONCE,
    /** Every attempt fails. */
    NEVER,
    /** It is rejected at its first attempt. */
    REJECTED,
    /** It is accepted or rejected, as chance has it. */
    FLAKY,
    /** It is accepted, but takes its time. */
    SLOW,
    /** Its destination is away the first times that a process tries. */
    AWAY,
    /** It ends the process without a word. */
    HALT,
    /** It eats all memory. */
    EXHAUST,
    /** It never comes back, and is deaf to interrupts. */
    HANG;

    /** Whether it is given up in the end, however often it is tried. */
    boolean isDeadly() {
        return this == NEVER || this == REJECTED || this == HALT || this == EXHAUST || this == HANG;
    }

    String eventType() {
        return name();
    }
}
