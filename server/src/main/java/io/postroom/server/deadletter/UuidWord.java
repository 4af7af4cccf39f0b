package io.postroom.server.deadletter;

import io.postroom.server.terminal.Quoted;
import io.postroom.server.terminal.Uuids;
import java.util.UUID;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Reads the UUID of a redrive that is there. */
final class UuidWord implements ITypeConverter<UUID> {
    @Override
    public UUID convert(String text) {
        return read(text, "postroom deadletter redrives lists them");
    }

    static UUID read(String text, String hint) {
        return Uuids.read(text)
                .orElseThrow(() -> new TypeConversionException("'" + Quoted.text(text, 40)
                        + "' is not a UUID such as 8e03978e-40d5-43e8-bc93-6894a57f9324; " + hint));
    }

    /** Reads the UUID of one that is to be made. */
    static final class New implements ITypeConverter<UUID> {
        @Override
        public UUID convert(String text) {
            return read(text, "make a new one, as uuidgen does, and give it again to ask for the same act again");
        }
    }
}
