@NullMarked
package io.postroom.relay;

import org.jspecify.annotations.NullMarked;
