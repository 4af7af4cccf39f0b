/**
 * What the engine promises while something breaks: writers that race, processes that die, freeze or lose the database.
 *
 * <p>Every test proves two things: that the promise held, and that the fault really hit something. Killing a process does not
 * test the disk: the operating system keeps what was written.
 */
package io.postroom.fault;
