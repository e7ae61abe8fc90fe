create schema if not exists analytics;
comment on schema analytics is 'The public face of the database: views and functions for people who ask questions in SQL.';
comment on schema game is 'What the API shows of the game: entities with their history, events and samples.';
comment on schema sync is 'The program''s own records: the run ledger, quarantine, drift, absences.';
