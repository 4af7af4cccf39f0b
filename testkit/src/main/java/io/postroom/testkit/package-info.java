/**
 * For tests of applications and of sinks: a real PostgreSQL, fakes that remember what they were sent, the contract of a sink, and
 * ways to cut, freeze and kill. Nothing here is for production.
 */
@NullMarked
package io.postroom.testkit;

import org.jspecify.annotations.NullMarked;
