comment on column sync.work_item.leased_by is
  'Who has it while leased_until lies ahead: a run, or `backfill`, which takes its own keys back when it goes on. NULL: nobody.';

comment on table sync.budget is
  'What every process that uses one credential may still ask the API for, per rate-limit bucket. Locked while it changes.';
comment on column sync.budget.account is
  'Which server, and which credential by the start of its SHA-256; `guest` without one. Never the credential itself.';
comment on column sync.budget.bucket is
  'The rate-limit bucket as the answers name it; a route whose bucket is not known yet has one of its own.';
comment on column sync.budget.state is
  'The running window as the headers told it, what is reserved of it and until when, and how often the live polls come.';
comment on column sync.budget.changed_at is
  'When it last changed, by the clock of the machine that changed it.';

comment on table sync.route_bucket is
  'Which rate-limit bucket each route of the API belongs to, as its answers said.';
comment on column sync.route_bucket.account is
  'Which server and credential, as in sync.budget.';
comment on column sync.route_bucket.route is
  'The path as a template, /guild/uuid/{uuid}.';
comment on column sync.route_bucket.bucket is
  'The bucket that its last answer named.';
comment on column sync.route_bucket.learned_at is
  'When an answer named it, by the clock of this machine.';

comment on table sync.expectation is
  'How often each resource should be observed, since when: what coverage is measured against.';
comment on column sync.expectation.resource is
  'The resource, such as territories.';
comment on column sync.expectation.valid_from is
  'Since when, until the next row of the resource.';
comment on column sync.expectation.every_seconds is
  'Seconds from one observation to the next. NULL: none is expected, because somebody switched the resource off.';
comment on column sync.expectation.told_by is
  'Which command said so: `start`, or `sync` (a crontab).';

comment on table sync.gap is
  'Stretches of time in which expected observations are missing, each written when the next observation arrives.';
comment on column sync.gap.resource is
  'The resource, such as territories.';
comment on column sync.gap.began_at is
  'The last observation before the gap.';
comment on column sync.gap.ended_at is
  'The first observation after the gap.';
comment on column sync.gap.missed is
  'Observations that should have been made in between.';
comment on column sync.gap.reason is
  'Why, as far as is known: what the attempts in between failed with, or that nobody asked.';

comment on table sync.coverage_hour is
  'The observations of each hour, counted: what questions about weeks rest on, and what remains of the ledger when its rows are removed.';
comment on column sync.coverage_hour.resource is
  'The resource, such as territories.';
comment on column sync.coverage_hour.hour is
  'The full hour (UTC).';
comment on column sync.coverage_hour.expected is
  'Observations that should have been made.';
comment on column sync.coverage_hour.observed is
  'Accepted answers, the unchanged and the partial ones among them.';
comment on column sync.coverage_hour.unchanged is
  'Accepted answers that said what was known already.';
comment on column sync.coverage_hour.partial is
  'Accepted answers of which parts were set aside or not seen.';
comment on column sync.coverage_hour.stale is
  'Answers that were older than what was known; not accepted.';
comment on column sync.coverage_hour.rejected is
  'Answers that were not believed.';
comment on column sync.coverage_hour.missed is
  'Observations that were expected and not made.';

comment on table sync.coverage_reach is
  'How far the hours of each resource are counted in sync.coverage_hour. What comes late or is told anew takes it back, and removes what is counted from there on; the upkeep counts it again.';
comment on column sync.coverage_reach.resource is
  'The resource, such as territories.';
comment on column sync.coverage_reach.counted_until is
  'Hours before it are counted, and questions read them instead of the ledger. -infinity: none are any more.';
comment on column sync.coverage_reach.thinned_until is
  'Rows of the ledger from before it may be gone, as its retention says: what is counted of them is never counted again. NULL: none are gone.';

comment on table sync.guard_action is
  'Each time a guard kept an answer, or a part of one, from being believed.';
comment on column sync.guard_action.at is
  'When, by the clock of this machine.';
comment on column sync.guard_action.resource is
  'The resource, such as items.';
comment on column sync.guard_action.key is
  'The key it was about. NULL: the whole answer.';
comment on column sync.guard_action.guard is
  'staleness, plausibility, clock, absence, zero-glitch, walk or mass-refusal.';
comment on column sync.guard_action.action is
  'What the guard did: rejected, ignored, accepted, accepted after agreement, given up, stopped, pending or tombstoned. NULL: a row from before this column existed.';
comment on column sync.guard_action.reason is
  'What was seen and what was done, in words.';
comment on column sync.guard_action.run_id is
  'The run: run_id in sync.run.';

comment on table sync.backfill is
  'Backfills: each a walk over all keys of a resource that were not asked for since it began.';
comment on column sync.backfill.backfill_id is
  'Its identity.';
comment on column sync.backfill.resource is
  'guilds or players.';
comment on column sync.backfill.started_at is
  'When it was first started, by the clock of this machine.';
comment on column sync.backfill.since is
  'Keys whose last answer came after this instant need not be asked for.';
comment on column sync.backfill.keys is
  'Keys there were to ask for when it began.';
comment on column sync.backfill.finished_at is
  'When the last key was asked for. NULL: it is not finished, and `backfill` goes on with it.';

comment on table sync.lock is
  'Locks of this program. They are here and not advisory locks of a known key, so that nobody who may only read can hold one.';
comment on column sync.lock.name is
  'What is locked, such as `wynnsync items` for a sync of items.';
comment on column sync.lock.session_key is
  'Random key of an advisory lock that the holder''s connection has: the lock is held while that one is. NULL: a row that transactions lock until they end.';
comment on column sync.lock.backend_pid is
  'The server process of the holder''s connection. NULL: as for session_key.';
comment on column sync.lock.process_id is
  'The holder''s process on its own machine. NULL: as for session_key.';
comment on column sync.lock.host is
  'The holder''s machine by its own name. NULL: as for session_key.';
comment on column sync.lock.application is
  'The application_name of the holder''s connection. NULL: as for session_key.';
comment on column sync.lock.since is
  'Since when it is held, by the clock of the server. NULL: as for session_key.';
