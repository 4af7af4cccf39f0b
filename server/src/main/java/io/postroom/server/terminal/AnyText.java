package io.postroom.server.terminal;

import picocli.CommandLine.ITypeConverter;

/** A text that may be empty, for an option where that means something; elsewhere an empty one is refused. */
public final class AnyText implements ITypeConverter<String> {
    @Override
    public String convert(String text) {
        return text;
    }
}
