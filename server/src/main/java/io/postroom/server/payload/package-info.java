/**
 * What commands show of payloads: as the console does whose settings they are given, else names without values. Revealing a value needs a
 * reason, and the audit has its entry before anything is printed; a process that dies between leaves an entry of something that nobody saw.
 */
@NullMarked
package io.postroom.server.payload;

import org.jspecify.annotations.NullMarked;
