/**
 * Messages of a subscription that did not go through at once, as operators act on them.
 *
 * <p>Protocol: a delivery is a row of {@code delivery}, written by relays. {@link io.postroom.delivery.DeliveryRedriver} puts rows
 * back for dead letters that are redriven and takes rows away that only held the place of one that is discarded. Whoever changes
 * deliveries locks their lanes first, in the order of subscription and lane, because a relay holds that lock while it records: neither
 * sees half of what the other does. It locks all it needs at once, so that two who redrive wait for each other and never in a ring.
 *
 * <p>What a crash leaves behind: nothing of the step it came in, since dead letter and delivery change in one transaction.
 */
@NullMarked
package io.postroom.delivery;

import org.jspecify.annotations.NullMarked;
