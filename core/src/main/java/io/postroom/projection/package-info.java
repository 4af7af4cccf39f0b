/**
 * Read models: tables that projections keep, in generations that can be built beside each other, compared and swapped.
 *
 * <p>A generation has a schema and a subscription of its own. The live one's schema has the read model's name, the others' that name
 * with {@code _g} and their number. Relays find the generations at each beat and serve those whose version they know. Who writes which
 * column of {@code generation}: {@code state} the maker (asked to building, or the first one to live) and the swapper; {@code hold_*} the
 * comparer; everything else the maker.
 *
 * <p>A batch of a generation reads, in one statement, what its schema is called and how often the model was swapped (its epoch), and puts
 * the schema before all others on the path. After the projection it reads the epoch again. If that has changed, a name may have meant
 * the other generation's table for a part of the batch: all of it is undone and done again. That a swap can be seen does not mean that
 * every session resolves names anew; PostgreSQL says so to them a moment later, before it gives the swap's locks back. So the first batch
 * that sees a new epoch waits for a lock that the swap holds.
 *
 * <p>What a crash leaves behind:
 *
 * <ol>
 *   <li>of a relay that makes a generation: nothing; the schema, the tables, the subscription and the row are one transaction. One that
 *       cannot be made leaves why in its row, and so does the first one of a read model, which is asked for then;
 *   <li>of an operator who asks for one: the request, or not. Any relay that serves the version makes it;
 *   <li>of a batch: nothing of it, or all, with the lane's position;
 *   <li>of a swap, a rollback or a retirement: nothing of it, or all, with its audit entry. Lanes that were asked for before a
 *       retirement are taken again within seconds;
 *   <li>of a comparison: lanes that stand still until the hold runs out, within seconds. Nothing else was changed.
 * </ol>
 *
 * <p>Locks are taken in this order: the read model's row, its subscriptions, their lanes.
 */
@NullMarked
package io.postroom.projection;

import org.jspecify.annotations.NullMarked;
