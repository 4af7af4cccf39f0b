/**
 * What this process runs, with which settings, and who may do what: a page and a call. Nothing here is a secret, and nothing that is one
 * comes near: tokens are not known to the process, and their hashes stay where they are compared.
 */
@NullMarked
package io.postroom.server.settings;

import org.jspecify.annotations.NullMarked;
