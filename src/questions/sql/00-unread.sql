-- A record that cannot be read shows nothing: what its key had before is known until then, unless the next one that can be read has it still.
create or replace function analytics.unread_from(history text, key text, valid_until timestamptz) returns timestamptz
language sql stable parallel safe
return (select min(lacked.from_at)
          from (select span.from_at, span.until_at from sync.unread span
                 where span.resource = unread_from.history and span.key = unread_from.key
                 union all
                select pending.first_at, null from sync.claim pending
                 where (pending.resource = unread_from.history and pending.kind = 'unread'
                        or pending.resource in (unread_from.history, split_part(unread_from.history, '/', 1)) and pending.kind = 'missing')
                   and pending.subject = unread_from.key) lacked
         where lacked.from_at < unread_from.valid_until and coalesce(lacked.until_at, 'infinity') >= unread_from.valid_until);
comment on function analytics.unread_from(text, text, timestamptz) is
'The first response that lacked a key, or had it and could not be read, of a version after which none showed it until it ended; NULL: responses showed it. Arguments: history, the resource, or the resource and one of its histories, as sync.unread names it; key, as there; valid_until of the version, or the first response that showed another.';

create or replace function analytics.was_read(history text, key text, at timestamptz, valid_until timestamptz) returns boolean
language sql stable parallel safe
return not exists (select from sync.unread span
                    where span.resource = was_read.history and span.key = was_read.key and span.from_at <= was_read.at
                      and span.from_at < was_read.valid_until and coalesce(span.until_at, 'infinity') >= was_read.valid_until);
comment on function analytics.was_read(text, text, timestamptz, timestamptz) is
'Whether it is known that a version of something was so at an instant: false while responses had the key and could not be read, after which they showed something else, or none has been read. Arguments: history, the resource, or the resource and one of its histories, as sync.unread names it; key, as there; at, the instant; valid_until of the version.';
