package io.postroom.archive;

/**
 * How many days are where.
 *
 * @param archived days in the archive
 * @param stuck days that are old enough to be archived and are not
 * @param undropped archived days that are older than they are kept
 */
public record DayCount(long archived, long stuck, long undropped) {}
