/**
 * Members: each place of a guild is taken by three players one after another, who rise once; every tenth place sees its
 * first player again. Numbers of players: place + tenancy x places.
 */
const places = `
  create table year.place as
  select row_number() over (order by guild, nth) - 1 as place, guild, nth
    from generate_series(0, year.guilds() - 1) as guild
   cross join lateral generate_series(1, year.members(guild)) as nth`

const tenancies = `
  create table year.tenancy as
  select place.place, place.guild, place.nth, tenancy,
         year.id('guild', place.guild) as guild_uuid,
         year.id('player', place.place + case when tenancy = 2 and place.place % 10 = 0 then 0 else tenancy end * (select count(*) from year.place)) as player_uuid,
         'Player ' || place.place + case when tenancy = 2 and place.place % 10 = 0 then 0 else tenancy end * (select count(*) from year.place) as username,
         case when tenancy = 0 then year.first() - interval '30 days' * (1 + year.draw(place.place, 30))
              else began.at - interval '3 minutes' end as joined,
         began.at as began, ended.at as ended, began.at + (least(ended.at, year.until()) - began.at) / 2 as rose
    from year.place
   cross join generate_series(0, 2) as tenancy
   cross join lateral (select case when tenancy = 0 then year.first() else year.first()
     + date_trunc('second', year.days() * interval '1 day' * ((tenancy + 0.6 * year.draw(place.place * 4 + tenancy, 31)) / 3.6)) end as at) began
   cross join lateral (select case when tenancy = 2 then timestamptz 'infinity' else year.first()
     + date_trunc('second', year.days() * interval '1 day' * ((tenancy + 1 + 0.6 * year.draw(place.place * 4 + tenancy + 1, 31)) / 3.6))
     - case when place.place % 10 = 0 and year.days() > 1 then interval '2 hours' else interval '5 minutes' end end as at) ended`

const tenancyIndex = 'create index on year.tenancy (guild, nth, began)'
const analyzed = 'analyze year.tenancy'

/** Each begins and ends with a response of its guild. */
const memberships = `
  insert into game.guild_member (guild_uuid, player_uuid, username, rank, joined, restricted, valid_from, valid_until, previous_until, hash)
  select guild_uuid, player_uuid, username, rank, joined, case when place % 50 = 7 then array['onlineStatus'] else '{}' end, version.valid_from, version.valid_until,
         lag(version.valid_until) over (partition by guild_uuid, player_uuid order by version.valid_from), year.fingerprint(rank)
    from year.tenancy
   cross join lateral (select (select min(at) from year.answer where answer.guild = tenancy.guild and at >= began) as came,
                              (select min(at) from year.answer where answer.guild = tenancy.guild and at >= rose) as changed,
                              coalesce((select min(at) from year.answer where answer.guild = tenancy.guild and at >= ended), 'infinity') as went) seen
   cross join lateral (values (came, coalesce(changed, 'infinity'), case when nth = 1 then 'chief' else 'recruit' end),
                              (changed, went, case when nth = 1 then 'owner' else 'recruiter' end)) as version(valid_from, valid_until, rank)
   where version.valid_from < version.valid_until`

const listed = `
  insert into game.guild_listing (guild_uuid, name, prefix, valid_from, hash)
  select year.id('guild', guild), 'Guild ' || guild, 'G' || guild, year.first(), year.fingerprint('listed')
    from generate_series(0, 40 * year.guilds() - 1) as guild`

const profiles = `
  insert into game.guild (guild_uuid, name, prefix, created_at, valid_from, hash)
  select year.id('guild', guild), 'Guild ' || guild, 'G' || guild, year.first() - interval '400 days', year.first(), year.fingerprint('guild')
    from generate_series(0, year.guilds() - 1) as guild`

/** Guilds are asked for every five minutes in the hours in which somebody of them is online. */
const answers = `
  create table year.answer as
  select guild, year.id('guild', guild) as guild_uuid, at, extract(epoch from at)::bigint / 300 * 1024 + guild as draw, year.is_large(guild) as is_large,
         year.members(guild) as members
    from generate_series(year.first(), year.until() - interval '1 second', interval '5 minutes') as at
   cross join generate_series(0, year.guilds() - 1) as guild
   where year.watched(at) and (at = year.first() or year.draw(extract(epoch from at)::bigint / 3600 * 1024 + guild, 32) < case when year.is_large(guild) then 0.67 else 0.15 end)
   order by at`

const observations = `
  insert into sync.observation (resource, key, received_at, observed_at, status, run_id)
  select 'guilds', guild_uuid::text, at + interval '2 seconds', at, case when year.draw(draw, 33) < 0.8 then 'ok' else 'unchanged' end, md5('guilds' || at)::uuid
    from year.answer`

const runs = `
  insert into sync.run (run_id, resource, program, started_at, finished_at, status, requests, records)
  select md5('guilds' || at)::uuid, 'guilds', 'bench', at + interval '1 second', at + interval '30 seconds', 'ok', count(*), count(*) from year.answer group by at`

/** Of what is listed once, at the beginning. */
const listings = `
  insert into sync.run (run_id, resource, program, started_at, finished_at, status, observed_at, requests, records)
  select md5(resource)::uuid, resource, 'bench', year.first() + interval '1 second', year.first() + interval '2 seconds', 'ok', year.first(), 1, 1
    from unnest(array['guild-list', 'seasons']) as resource`

const numbers = `
  insert into game.guild_sample (guild_uuid, observed_at, level, xp_percent, territories, wars, raids, members, online, online_listed, hidden)
  select guild_uuid, at, 50, floor(100 * year.draw(draw, 34))::int, null, floor(extract(epoch from at - year.first()) / 6000)::int + guild, guild, members,
         floor(members * year.draw(draw, 35) ^ 3)::int, 0, 1
    from year.answer where at = year.first() or year.draw(draw, 36) < 0.4`

const ratings = `
  insert into game.guild_season (guild_uuid, season, observed_at, rating, final_territories)
  select guild_uuid, 30 + floor(extract(epoch from at - year.first()) / (45 * 86400))::int, at,
         floor(extract(epoch from at - year.first()))::bigint % (45 * 86400) + 1, 0
    from year.answer where guild < 60 and year.draw(draw, 37) < case when is_large then 0.08 else 0.3 end`

const seasons = `
  insert into game.season (season, started_at, ends_at, territory_holding_sr_per_hour, sr_per_war, valid_from, hash)
  select 30 + nth, year.first() + interval '45 days' * nth, year.first() + interval '45 days' * (nth + 1) - interval '1 day', 120, 40, year.first(), year.fingerprint('season')
    from generate_series(0, floor(year.days() / 45)::int) as nth`

/** Whose numbers changed in an answer, most often those who play most. */
const stirred = (purpose: number, most: string) => `year.answer
   cross join lateral generate_series(1, ${most}) as pick
   join year.tenancy on tenancy.guild = answer.guild and tenancy.nth = 1 + floor(members * year.draw(draw * 16 + pick, ${purpose}) ^ 2)::int
                    and tenancy.began <= at and at < tenancy.ended`

/** Counters rise with time; one in twenty thousand is told as zero. \`contributed\` counts since joining. */
const counters = `
  insert into game.member_counter (guild_uuid, player_uuid, counter, observed_at, value)
  select answer.guild_uuid, player_uuid, counter, at,
         case when year.draw(draw * 16 + pick, 40) < 0.00005 then 0
              when counter = 'contributed' then floor(extract(epoch from at - joined) * (1 + place % 97))
              else floor(extract(epoch from at - year.first() + interval '40 days') / (20 + place % 13)) end
    from ${stirred(41, 'year.stirred(is_large)')}
   cross join lateral (select (array['contributed', 'contributed', 'contributed', 'mobsKilled', 'chestsFound', 'playtime', 'wars', 'guildRaids.total'])
                                [1 + floor(8 * year.draw(draw * 16 + pick, 42))::int] as counter) told
   order by at
  on conflict do nothing`

const firstCounters = `
  insert into game.member_counter (guild_uuid, player_uuid, counter, observed_at, value)
  select tenancy.guild_uuid, player_uuid, counter, first.at,
         case when counter = 'contributed' then floor(extract(epoch from first.at - joined) * (1 + place % 97))
              else floor(extract(epoch from first.at - year.first() + interval '40 days') / (20 + place % 13)) end
    from year.tenancy
   cross join unnest(array['contributed', 'mobsKilled', 'chestsFound', 'playtime', 'wars', 'guildRaids.total']) as counter
   cross join lateral (select min(answer.at) as at from year.answer where answer.guild = tenancy.guild and answer.at >= tenancy.began and answer.at < tenancy.ended) first
   where first.at is not null
   order by first.at
  on conflict do nothing`

const presence = `
  insert into game.member_presence (guild_uuid, player_uuid, observed_at, online, server, last_join)
  select answer.guild_uuid, player_uuid, at, online, case when online then 'WC' || 1 + draw % 27 end, at - interval '1 hour' * year.draw(draw * 16 + pick, 43)
    from ${stirred(44, 'case when year.draw(draw, 45) < 0.5 then case when is_large then 3 else 1 end else 0 end')}
   cross join lateral (select year.draw(draw * 16 + pick, 46) < 0.5 as online) told
   where place % 50 <> 7
   order by at
  on conflict do nothing`

const workItems = `
  insert into sync.work_item (resource, key, weight, first_observed_at, observed_at, records, checked_at, content_hash)
  select 'guilds', guild_uuid::text, 1, min(at), max(at), 1, max(at), '\\x00' from year.answer group by guild_uuid`

const answerIndex = 'create index on year.answer (guild, at)'

/** In this order. */
export const guildStatements = [
  places,
  tenancies,
  tenancyIndex,
  analyzed,
  answers,
  answerIndex,
  memberships,
  listed,
  profiles,
  observations,
  runs,
  listings,
  numbers,
  ratings,
  seasons,
  firstCounters,
  counters,
  presence,
  workItems,
]
