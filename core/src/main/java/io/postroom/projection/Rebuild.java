package io.postroom.projection;

/**
 * A generation that was asked for.
 *
 * @param already whether somebody had asked before; nothing was changed then
 */
public record Rebuild(String readModel, int generation, int version, long beganAfter, boolean already) {}
