/**
 * What operators see of subscriptions and do to them: pause, resume, another number of lanes, skip, replay, copy, release, remove.
 *
 * <p>Every act locks the subscription's row, then the lanes it changes, in their order; relays lock single lanes and never the
 * subscription, so nobody waits in a ring. The act and its audit row are one transaction. Who writes which column of
 * {@code subscription}: {@code paused_*}, {@code drain_until} and {@code lanes_wanted} the operator; {@code lanes} and
 * {@code former_positions} whoever makes a change of lanes; {@code copy_of} and {@code replay_rate} the operator who replays; {@code
 * served_by} the operator who moves it to a broker or back, see {@code io.postroom.source}: lanes are left alone meanwhile.
 *
 * <p>Acts that move lanes do so only while no relay has them, so that nothing is sent twice and no attempt is lost:
 *
 * <ol>
 *   <li>the operator asks ({@code drain_until}, or {@code lanes_wanted} for a change of lanes);
 *   <li>relays see it at their next beat or by a notification, finish what is on its way, settle, and give the lanes back; nobody
 *       takes one meanwhile;
 *   <li>when all are free, or the leases of dead relays have run out, the lanes are moved, with greater fences.
 * </ol>
 *
 * <p>A single message is skipped where it is. If it is being sent in a lane whose lease has run out, the lane gets a greater fence: its relay
 * may only stand still, and what it writes when it goes on would bring the message back.
 *
 * <p>What a crash leaves behind: after the first step of a skip or replay a request that ends by itself within seconds. After the
 * first step of a change of lanes a request that any relay, or the next operator, carries out. Within the third step nothing.
 *
 * <p>A change of lanes puts every new lane where the slowest old one was, and keeps where all of them were
 * ({@code former_positions}): readers skip what a former lane had delivered. When all lanes are beyond, that is forgotten; until then
 * no further change and no replay is made. Deliveries go to the lane that their key has now.
 *
 * <p>A replay moves lanes back. They carry {@code replay_to}, where it ends, and {@code resume_at}, where they go on afterwards. A copy
 * is a subscription of its own whose lanes replay from the beginning; relays of the original serve it up to its end.
 */
@NullMarked
package io.postroom.subscription;

import org.jspecify.annotations.NullMarked;
