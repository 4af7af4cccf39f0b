/**
 * What operators did, and why: who says to have done it, the role that did, the noun and verb, what it was done to, and a reason.
 *
 * <p>Protocol: {@link io.postroom.audit.Audit} adds a row in the transaction of the act itself, so that there is no act without its
 * entry and no entry without its act. Rows are added, never changed. A crash leaves both or neither.
 */
@NullMarked
package io.postroom.audit;

import org.jspecify.annotations.NullMarked;
