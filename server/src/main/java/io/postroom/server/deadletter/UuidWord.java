package io.postroom.server.deadletter;

import io.postroom.server.terminal.Quoted;
import java.util.UUID;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Reads a UUID as it is written on the command line. */
final class UuidWord implements ITypeConverter<UUID> {
    @Override
    public UUID convert(String text) {
        // UUID.fromString takes shorter forms for others than they are.
        if (!text.matches("[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")) {
            throw new TypeConversionException(
                    "'" + Quoted.text(text, 40)
                            + "' is not a UUID such as 8e03978e-40d5-43e8-bc93-6894a57f9324; postroom deadletter redrives lists them");
        }
        return UUID.fromString(text);
    }
}
