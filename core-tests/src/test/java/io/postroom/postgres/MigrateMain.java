package io.postroom.postgres;

import org.postgresql.ds.PGSimpleDataSource;

/** Migrates a database from a process of its own: to be killed, or to race with another. */
final class MigrateMain {
    private MigrateMain() {}

    public static void main(String[] arguments) {
        PGSimpleDataSource dataSource = new PGSimpleDataSource();
        dataSource.setUrl(arguments[0]);
        Migrations migrations = new Migrations(new Database(dataSource, Schema.POSTROOM));
        migrations.status();
        System.out.println("ready");
        System.out.println("applied " + migrations.migrate().size());
    }
}
