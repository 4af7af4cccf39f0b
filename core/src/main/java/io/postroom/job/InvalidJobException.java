package io.postroom.job;

import io.postroom.PostroomException;
import org.jspecify.annotations.Nullable;

/** A job that breaks a rule of {@link JobRules}. It was refused before anything was written. */
public final class InvalidJobException extends PostroomException {
    private static final long serialVersionUID = 1L;

    InvalidJobException(String code, String message) {
        this(code, message, null);
    }

    InvalidJobException(String code, String message, @Nullable Throwable cause) {
        super(code, message, cause);
    }
}
