package io.postroom.relay;

import io.postroom.PostroomException;

/** Another relay has the lane. Thrown inside the relay to stop work on the lane at once. */
final class LostLeaseException extends PostroomException {
    private static final long serialVersionUID = 1L;

    LostLeaseException(RelayTable.Held lane, long position) {
        super(
                "lane.lease-lost",
                "could not settle lane " + lane.lane() + " of subscription " + lane.subscription() + " at position "
                        + position + ": fence " + lane.fence()
                        + " is stale, another relay took the lane or the server was replaced; what was not settled is delivered again");
    }
}
