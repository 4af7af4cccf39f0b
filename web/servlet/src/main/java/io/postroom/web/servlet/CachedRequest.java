package io.postroom.web.servlet;

import io.postroom.idempotency.MultipartPart;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.ReadListener;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletInputStream;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import jakarta.servlet.http.Part;
import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UnsupportedEncodingException;
import java.net.URLDecoder;
import java.nio.charset.Charset;
import java.nio.charset.IllegalCharsetNameException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Enumeration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A request whose body was read already: it gives the same bytes again, and the parameters of a form. */
final class CachedRequest extends HttpServletRequestWrapper {
    private static final String FORM = "application/x-www-form-urlencoded";

    private final byte[] body;
    private @Nullable Map<String, String[]> parameters;

    CachedRequest(HttpServletRequest request, byte[] body) {
        super(request);
        this.body = body;
    }

    /** Whether its text can be read: the name is the client's. */
    static boolean hasKnownCharset(HttpServletRequest request) {
        String name = request.getCharacterEncoding();
        try {
            return name == null || Charset.isSupported(name);
        } catch (IllegalCharsetNameException e) {
            return false;
        }
    }

    @Override
    public ServletInputStream getInputStream() {
        return new Bytes(new ByteArrayInputStream(body));
    }

    @Override
    public BufferedReader getReader() throws UnsupportedEncodingException {
        if (!hasKnownCharset(this)) {
            throw new UnsupportedEncodingException(getCharacterEncoding());
        }
        return new BufferedReader(new InputStreamReader(new ByteArrayInputStream(body), charset()));
    }

    @Override
    public @Nullable String getParameter(String name) {
        String[] values = getParameterMap().get(name);
        return values == null ? null : values[0];
    }

    @Override
    public String @Nullable [] getParameterValues(String name) {
        String[] values = getParameterMap().get(name);
        return values == null ? null : values.clone();
    }

    @Override
    public Enumeration<String> getParameterNames() {
        return Collections.enumeration(getParameterMap().keySet());
    }

    /** The container cannot read the form any more: its bytes are here. */
    @Override
    public Map<String, String[]> getParameterMap() {
        Map<String, String[]> known = parameters;
        if (known == null) {
            Map<String, List<String>> found = new LinkedHashMap<>();
            add(found, getQueryString());
            String type = getContentType();
            if (type != null && type.toLowerCase(Locale.ROOT).startsWith(FORM)) {
                add(found, new String(body, StandardCharsets.ISO_8859_1));
            }
            if (isMultipart()) {
                MultipartPart.read(getContentType(), body).forEach(part -> addField(found, part));
            }
            Map<String, String[]> all = new LinkedHashMap<>();
            found.forEach((name, values) -> all.put(name, values.toArray(String[]::new)));
            known = Collections.unmodifiableMap(all);
            parameters = known;
        }
        return known;
    }

    private static void addField(Map<String, List<String>> found, MultipartPart part) {
        String text = part.text();
        if (text != null) {
            found.computeIfAbsent(part.name(), ignored -> new ArrayList<>()).add(text);
        }
    }

    private void add(Map<String, List<String>> found, @Nullable String text) {
        if (text == null || text.isEmpty()) {
            return;
        }
        for (String pair : text.split("&")) {
            int equals = pair.indexOf('=');
            String name = equals < 0 ? pair : pair.substring(0, equals);
            String value = equals < 0 ? "" : pair.substring(equals + 1);
            if (!pair.isEmpty()) {
                found.computeIfAbsent(decode(name), ignored -> new ArrayList<>())
                        .add(decode(value));
            }
        }
    }

    private String decode(String text) {
        try {
            return URLDecoder.decode(text, charset());
        } catch (IllegalArgumentException e) {
            // A percent sign that escapes nothing stands for itself.
            return text;
        }
    }

    private Charset charset() {
        String name = getCharacterEncoding();
        return name == null ? StandardCharsets.UTF_8 : Charset.forName(name);
    }

    @Override
    public Collection<Part> getParts() throws ServletException {
        if (!isMultipart()) {
            throw new ServletException("the body is no form with parts, its type is " + getContentType());
        }
        return MultipartPart.read(getContentType(), body).stream()
                .<Part>map(CachedPart::new)
                .toList();
    }

    @Override
    public @Nullable Part getPart(String name) throws ServletException {
        return getParts().stream()
                .filter(part -> part.getName().equals(name))
                .findFirst()
                .orElse(null);
    }

    private boolean isMultipart() {
        String type = getContentType();
        return type != null && type.toLowerCase(Locale.ROOT).startsWith("multipart/");
    }

    /** The answer is committed when the servlet returns: there is no later. */
    @Override
    public boolean isAsyncSupported() {
        return false;
    }

    @Override
    public AsyncContext startAsync() {
        throw new IllegalStateException("a request behind an IdempotencyFilter is answered before its servlet returns");
    }

    @Override
    public AsyncContext startAsync(ServletRequest request, ServletResponse response) {
        return startAsync();
    }

    private static final class Bytes extends ServletInputStream {
        private final ByteArrayInputStream bytes;

        private Bytes(ByteArrayInputStream bytes) {
            this.bytes = bytes;
        }

        @Override
        public int read() {
            return bytes.read();
        }

        @Override
        public int read(byte[] target, int offset, int length) {
            return bytes.read(target, offset, length);
        }

        @Override
        public boolean isFinished() {
            return bytes.available() == 0;
        }

        @Override
        public boolean isReady() {
            return true;
        }

        @Override
        public void setReadListener(ReadListener listener) {
            throw new IllegalStateException("the body is there already; read it");
        }

        @Override
        public void close() throws IOException {
            bytes.close();
        }
    }
}
