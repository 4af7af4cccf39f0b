/**
 * Kafka as a source: a projection that relays could run on the journal is run on topics instead, behind the same inbox.
 *
 * <p>One thread polls. The records of a partition go to a thread of its own, which hands them to {@link io.postroom.source.Reception};
 * the partition is paused until they are handled, so that the consumer polls on however long that takes and stays in its group. How far
 * a partition is, is kept in the transaction in which the records took effect; Kafka is told afterwards, never before.
 *
 * <p>Rebalances. Partitions that are taken away: their threads finish the transaction that is open, or give it up when the grace is over,
 * and what is handled is committed before they are given back. Partitions that are lost: others have them already, and what is open here
 * may still be committed; both meet at the inbox, so nothing takes effect twice.
 *
 * <p>A subscription that moves. {@link io.postroom.source.kafka.KafkaMove} finds a cut between the journal and the topics and switches in
 * one transaction. While the subscription of its name is served by PostgreSQL, a source stays out of its group; each of its transactions
 * locks the subscription's row, so the switch waits for those that are open and no later one gets through.
 *
 * <p>A partition whose thread dies ends the session; another one is begun. {@link io.postroom.source.kafka.Beginning} begins where the
 * database is, whatever the group was told; where it knows nothing, at a place that loses nothing and goes not behind what the inbox
 * remembers.
 *
 * <p>What a crash leaves behind: records that took effect and were not committed come again and are duplicates. The rest is told in the
 * {@code package-info} of {@code io.postroom.source}.
 */
@NullMarked
package io.postroom.source.kafka;

import org.jspecify.annotations.NullMarked;
