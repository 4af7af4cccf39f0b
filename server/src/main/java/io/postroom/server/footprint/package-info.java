/**
 * What Postroom takes of the database: how large its tables are, how much of them is dead, how far ahead partitions are made, which days
 * are archived, and who keeps dead rows from being removed. Reads catalogs, statistics and the list of archived days only, and never a table of messages.
 */
@NullMarked
package io.postroom.server.footprint;

import org.jspecify.annotations.NullMarked;
