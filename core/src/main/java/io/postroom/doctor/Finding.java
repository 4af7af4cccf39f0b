package io.postroom.doctor;

/**
 * Something that is not as it should be.
 *
 * @param evidence a sentence with what was seen and what the limit is; names of others may be in it, but no payload
 * @param advice what to do, for people
 * @param fix the SQL that does it, where SQL can
 */
public record Finding(Check check, Severity severity, String evidence, String advice, Fix fix) {
    static Finding error(Check check, String evidence, String advice, Fix fix) {
        return new Finding(check, Severity.ERROR, evidence, advice, fix);
    }

    static Finding warning(Check check, String evidence, String advice, Fix fix) {
        return new Finding(check, Severity.WARNING, evidence, advice, fix);
    }

    static Finding note(Check check, String evidence, String advice, Fix fix) {
        return new Finding(check, Severity.NOTE, evidence, advice, fix);
    }
}
