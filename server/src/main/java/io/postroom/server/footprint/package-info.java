/**
 * What Postroom takes of the database: how large its tables are, how much of them is dead, how far ahead partitions are made, and who
 * keeps dead rows from being removed. Reads catalogs and statistics only, and never a table of messages.
 */
@NullMarked
package io.postroom.server.footprint;

import org.jspecify.annotations.NullMarked;
