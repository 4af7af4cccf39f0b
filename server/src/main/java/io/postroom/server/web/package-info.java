/**
 * The HTTP side of the server: one Jetty for console, API and health, and what every page and call has in common.
 *
 * <p>A request passes the {@link io.postroom.server.web.Gate} first: host, user, role, and for whatever changes something the proof
 * that it came from our own page. Then its feature answers: pages through {@link io.postroom.server.web.Pages}, which escape all
 * they are given, calls as JSON. Nothing is kept between requests but a secret that signs cookies; a process that dies takes
 * nothing with it, and whoever was signed in signs in again.
 *
 * <p>Protocol of an act: in one transaction its key is taken, the act is done and audited, and its answer is kept with the key. A crash
 * before the commit leaves nothing, and the same key does it; a crash after it leaves all, and the same key is answered the same. A
 * redrive has its key as its identity instead.
 *
 * <p>Reading, previews of redrives and acting have connections of their own: a page's statements end after two seconds, a preview's after
 * ten, and a crowd of readers cannot keep an operator from acting.
 */
@NullMarked
package io.postroom.server.web;

import org.jspecify.annotations.NullMarked;
