/**
 * What commands show of payloads: what {@code console.payloads} of their settings says, and names without values where nothing says it;
 * but a tail, which is a consumer, prints them as they were sent where nothing says otherwise. Revealing a value needs a reason, and the audit has its entry before anything is printed; a process that dies between leaves an entry of
 * something that nobody saw.
 *
 * <p>This keeps values off screens and tells the audit who looked. It keeps nobody from them who may read the tables: whoever gives the
 * settings may give others.
 */
@NullMarked
package io.postroom.server.payload;

import org.jspecify.annotations.NullMarked;
