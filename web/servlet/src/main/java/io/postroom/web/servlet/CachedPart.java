package io.postroom.web.servlet;

import io.postroom.idempotency.MultipartPart;
import jakarta.servlet.http.Part;
import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** A part of a form that is in memory. */
final class CachedPart implements Part {
    private final MultipartPart part;

    CachedPart(MultipartPart part) {
        this.part = part;
    }

    @Override
    public InputStream getInputStream() {
        return new ByteArrayInputStream(part.content());
    }

    @Override
    public @Nullable String getContentType() {
        return getHeader("content-type");
    }

    @Override
    public String getName() {
        return part.name();
    }

    @Override
    public @Nullable String getSubmittedFileName() {
        return part.fileName();
    }

    @Override
    public long getSize() {
        return part.content().length;
    }

    @Override
    public void write(String fileName) {
        throw new UnsupportedOperationException("the part is in memory; read its stream and write it where you want");
    }

    /** It is on no disk. */
    @Override
    public void delete() {}

    @Override
    public @Nullable String getHeader(String name) {
        return part.headers().get(name.toLowerCase(Locale.ROOT));
    }

    @Override
    public Collection<String> getHeaders(String name) {
        String value = getHeader(name);
        return value == null ? List.of() : List.of(value);
    }

    @Override
    public Collection<String> getHeaderNames() {
        return part.headers().keySet();
    }
}
