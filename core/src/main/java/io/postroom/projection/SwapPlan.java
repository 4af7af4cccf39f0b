package io.postroom.projection;

import java.util.List;

/**
 * What a swap would do, or did.
 *
 * @param problems why it should not be done, each with what to do about it; empty if nothing speaks against it
 * @param already whether it was done before, and nothing was changed
 */
public record SwapPlan(String readModel, int from, int to, List<String> problems, boolean already) {}
