-- What every table and column of schema sync means.

comment on table sync.run is
  'The ledger: one row per execution of a resource, also of those that failed, written in the same transaction as what it loaded. A gap in it is a gap in what is known.';
comment on column sync.run.run_id is
  'Random; the log and other tables name the run by it.';
comment on column sync.run.resource is
  'The resource, such as items.';
comment on column sync.run.status is
  'ok (something was written), unchanged, partial (loaded, but incomplete or with records set aside), stale (older than what is known), rejected (implausible), failed. Only ok, unchanged and partial are accepted answers.';
comment on column sync.run.reason is
  'Why the answer was not simply loaded, in words. NULL: it was.';
comment on column sync.run.started_at is
  'When the run began, by the clock of this machine.';
comment on column sync.run.finished_at is
  'When the run ended, by the clock of this machine.';
comment on column sync.run.observed_from is
  'The instant the oldest page of the answer speaks for: when the API computed it, not when it was fetched. NULL: there was no answer.';
comment on column sync.run.observed_at is
  'The instant the newest page of the answer speaks for; the versions that it showed start here. NULL: there was no answer.';
comment on column sync.run.complete is
  'True: everything the API has was seen, so that absence means something. NULL: there was no answer.';
comment on column sync.run.requests is
  'HTTP requests sent, repeated ones included.';
comment on column sync.run.pages is
  'Pages that the answer came in.';
comment on column sync.run.records is
  'Records in the answer, each key once, those set aside included.';
comment on column sync.run.normalized is
  'Records that could be normalized, each key once: what plausibility compares. NULL: a row from before this column existed, or a response rejected for its clock.';
comment on column sync.run.inserted is
  'Entities that had no current version and got one: new ones, and ones that came back.';
comment on column sync.run.changed is
  'Entities whose current version ended and gave way to a new one.';
comment on column sync.run.closed is
  'Entities whose version ended because enough complete answers in a row lacked them.';
comment on column sync.run.unchanged is
  'Entities that the answer showed as they were known; nothing is written for them.';
comment on column sync.run.events is
  'Events appended, for resources that record events.';
comment on column sync.run.rejected is
  'Answers not taken in because they were implausible; of a worklist also keys that were refused among many at once.';
comment on column sync.run.quarantined is
  'Records of this answer that could not be understood; see sync.quarantine.';
comment on column sync.run.living is
  'Keys that have a current version after this run. NULL: the answer was not accepted.';
comment on column sync.run.content_hash is
  'SHA-256 over the fingerprints of all records whatever their order, 32 bytes. Equal: the API said the same. NULL: there was no answer.';
comment on column sync.run.error is
  'What went wrong, in words. NULL: nothing did.';
comment on column sync.run.program is
  'Version of the program that ran.';

comment on table sync.absence is
  'Keys that the latest complete answers lacked. Absence is not deletion: a version ends when enough answers in a row lacked its key, and the row goes when that happens or when the key is back.';
comment on column sync.absence.resource is
  'The resource, such as items.';
comment on column sync.absence.key is
  'Natural key of the entity; several columns are joined by a slash.';
comment on column sync.absence.first_missed_at is
  'The instant the first answer speaks for that lacked the key; where the version will end.';
comment on column sync.absence.last_missed_at is
  'The instant the latest answer speaks for that lacked the key.';
comment on column sync.absence.times is
  'Complete answers in a row that lacked the key.';

comment on table sync.quarantine is
  'Records that could not be understood, each distinct one once, as the API sent them. They are neither lost nor believed: the last good version of such an entity stays.';
comment on column sync.quarantine.id is
  'Number of the row, rising.';
comment on column sync.quarantine.resource is
  'The resource, such as items.';
comment on column sync.quarantine.key is
  'Natural key of the record. NULL: it has none that can be read.';
comment on column sync.quarantine.path is
  'JSON pointer to what is wrong. Empty: the record as a whole.';
comment on column sync.quarantine.reason is
  'What is wrong, in words.';
comment on column sync.quarantine.raw is
  'The record as it came, with sorted keys. json, not jsonb, because jsonb refuses some text (U+0000, halves of surrogate pairs).';
comment on column sync.quarantine.raw_hash is
  'SHA-256 of raw, 32 bytes: the same bad record is kept once.';
comment on column sync.quarantine.first_seen_at is
  'The instant the answer speaks for that showed it first.';
comment on column sync.quarantine.run_id is
  'The run that found it: run_id in sync.run.';

comment on table sync.drift is
  'What the API sent that this program did not know, each thing once: fields without a column, members missing from an enumeration, fields that vanished, came back or have another type. Nothing of it is dropped.';
comment on column sync.drift.id is
  'Number of the row, rising.';
comment on column sync.drift.resource is
  'The resource, such as items.';
comment on column sync.drift.kind is
  'unknown_field, unknown_member, missing_field (every second record or more lost it at once, or it cannot be done without), retyped_field, or returned_field (what was missing or of another type is as it was).';
comment on column sync.drift.path is
  'JSON pointer to the field; * stands for any element of a list and any key of a map.';
comment on column sync.drift.member is
  'The unknown member; of a retyped field the type that it has; else empty.';
comment on column sync.drift.key is
  'Natural key of one entity that has it, or lost it. Empty: the answer as a whole.';
comment on column sync.drift.example is
  'What that entity holds there; null where nothing new is held.';
comment on column sync.drift.first_seen_at is
  'The instant the answer speaks for that showed it first.';
comment on column sync.drift.run_id is
  'The run that found it: run_id in sync.run.';

comment on table sync.work_item is
  'The worklist of resources that are asked for key by key: what is known of each key''s last answer, and how urgent it is.';
comment on column sync.work_item.resource is
  'The resource, such as guilds.';
comment on column sync.work_item.key is
  'Natural key of what is asked for.';
comment on column sync.work_item.weight is
  'How much its staleness counts: a key of weight 10 is asked for ten times as often as one of weight 1.';
comment on column sync.work_item.first_observed_at is
  'The instant the first accepted answer speaks for: where memory of this key begins. NULL: there was none yet.';
comment on column sync.work_item.observed_at is
  'The instant the latest accepted answer speaks for. NULL: there was none yet.';
comment on column sync.work_item.content_hash is
  'SHA-256 over what that answer said, 32 bytes. Equal: the API said the same. NULL: there was none yet.';
comment on column sync.work_item.records is
  'Records in that answer.';
comment on column sync.work_item.checked_at is
  'When an answer last came, also one that was not accepted, by the clock of this machine. NULL: never.';
comment on column sync.work_item.leased_until is
  'Until then a process asks for it, or it rests after a failure. NULL: it may be asked for.';
comment on column sync.work_item.gone_at is
  'Since when the API does not know it any more, confirmed; it is asked for about once a day then. NULL: it exists as far as is known.';
comment on column sync.work_item.refusal is
  'What the API says and has not confirmed yet: hidden (403) or gone (404). NULL: nothing is pending.';
comment on column sync.work_item.refused_since is
  'When it said so first. NULL: nothing is pending.';
comment on column sync.work_item.refused_times is
  'How often it has said so in a row. NULL: nothing is pending.';

comment on table sync.observation is
  'One row per answer about one key of a worklist, also of those that were not accepted. Resources that are asked for as a whole have their run as their observation.';
comment on column sync.observation.resource is
  'The resource, such as guilds.';
comment on column sync.observation.key is
  'Natural key of what was asked for.';
comment on column sync.observation.received_at is
  'When the answer came, by the clock of this machine.';
comment on column sync.observation.observed_at is
  'The instant the answer speaks for. NULL: there was none.';
comment on column sync.observation.status is
  'ok (something was written), unchanged, partial (taken, but with parts set aside), stale (older than what is known), rejected (implausible, or refused among many at once), hidden (private), gone (not known to the API any more). Only ok, unchanged and partial are accepted answers.';
comment on column sync.observation.reason is
  'Why the answer was not simply taken, in words. NULL: it was.';
comment on column sync.observation.run_id is
  'The run that asked: run_id in sync.run.';
