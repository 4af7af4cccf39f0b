/**
 * Calls to others that must take effect once: a charge, a mail, an order at a supplier.
 *
 * <p>Two values do two things. The key is the same at every attempt, on every node and after every restart: by it the provider knows
 * that it is the same intent. The fence grows with every attempt: by it our own table knows who may write. The fence is never part of
 * the key, because then each attempt would be another intent, and would be charged again.
 *
 * <p>Protocol: {@link io.postroom.externalcall.ExternalCalls#begin} commits a row with the key before anything is sent. The caller
 * calls the provider with that key and writes how it ended, under the fence. While an attempt has its lease, nobody else calls.
 * An attempt that ends without an answer leaves the row {@code calling}; the next one calls with the same key, and the provider
 * repeats its answer or says that it is still busy. When the provider may have forgotten the key, nobody calls any more: the row is
 * parked as {@code needs_reconciliation} until somebody who has looked at the provider says what happened.
 *
 * <p>What a crash leaves behind:
 *
 * <ol>
 *   <li>before the commit of begin: nothing, and nothing was sent;
 *   <li>after it, before or during the call, or after the provider's answer: a row that is {@code calling}; after its lease the next
 *       attempt calls again, with the same key;
 *   <li>after the commit of the end: a row that is {@code done} or {@code declined}, for good.
 * </ol>
 *
 * <p>A revision is a new intent with a new key. There is one only if the one before was declined; while nobody knows how a call ended,
 * there is none.
 */
@NullMarked
package io.postroom.externalcall;

import org.jspecify.annotations.NullMarked;
