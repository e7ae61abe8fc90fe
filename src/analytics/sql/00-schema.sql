create schema if not exists analytics;
comment on schema analytics is 'The public face of the database: views and functions for people who ask questions in SQL.';
comment on schema game is 'What the API said about the game: entities with their history, events and samples.';
comment on schema sync is 'What the program knows about its own work: the ledger, quarantine, drift, absences.';
