comment on sequence sync.raw_answer_number is
  'Numbers the answers of sync.raw_answer in the order in which they were taken in.';

comment on table sync.raw_body is
  'What the API sent, each distinct body once. Answers that are younger than WYNNSYNC_RAW_DAYS are kept; `replay` builds the tables anew from them.';
comment on column sync.raw_body.hash is
  'SHA-256 of the text as the API sent it, after its transport compression.';
comment on column sync.raw_body.body is
  'The text, compressed with brotli.';
comment on column sync.raw_body.bytes is
  'Length of the text in bytes, before compression.';
comment on column sync.raw_body.first_at is
  'When it first came, by the clock of the machine that asked.';

comment on table sync.raw_answer is
  'Which body answered which request of a resource, and when. An answer that took several requests (pages, two listings) has a row for each.';
comment on column sync.raw_answer.answer_id is
  'The answer; rises in the order in which answers were taken in.';
comment on column sync.raw_answer.position is
  'Which of the requests of the answer, counting from 0.';
comment on column sync.raw_answer.resource is
  'The resource that asked.';
comment on column sync.raw_answer.key is
  'The key that was asked for, such as the uuid of a guild. NULL where one answer holds all of the resource.';
comment on column sync.raw_answer.request is
  'Method, path and query below the base URL.';
comment on column sync.raw_answer.http_status is
  'HTTP status. 404 and 403 are kept too where they say something about a key: it is gone, or hidden.';
comment on column sync.raw_answer.headers is
  'The headers that say for which instant the answer speaks and for how long it is kept.';
comment on column sync.raw_answer.credential is
  'Who asked: `guest`, or `token` when a credential was sent. Never the credential itself.';
comment on column sync.raw_answer.received_at is
  'When its headers came, by the clock of the machine that asked.';
comment on column sync.raw_answer.observed_at is
  'The instant that the answer speaks for, the same as in the ledger. NULL when it was refused or could not be read.';
comment on column sync.raw_answer.taken_at is
  'When it was taken in, by the clock of the ledger; its retention counts from here.';
comment on column sync.raw_answer.status is
  'What it came to: ok, unchanged, partial, rejected, gone, hidden, or failed when the program could not read it.';
comment on column sync.raw_answer.accepted is
  'True when a person told the program to take it although it looked implausible.';
comment on column sync.raw_answer.hash is
  'Its body, in sync.raw_body.';
comment on column sync.raw_answer.run_id is
  'The run that asked, in sync.run.';
