import type { Database } from '../../src/db/database.ts'
import type { Sandbox } from '../../src/sandbox/index.ts'

/*
 * What a sandbox served about guilds, players and leaderboards at the instants at which it was asked, against what a database has of them:
 * each accepted response has to be found again in the history of its instant, and nothing may begin or end at any other. Read from the
 * responses alone, not by the program.
 */

type Fields = Readonly<Record<string, unknown>>

/** Bodies by resource and key, of one instant. */
export interface Served {
  readonly at: number
  readonly bodies: ReadonlyMap<string, Fields>
}

const fieldsOf = (value: unknown): Fields => (typeof value === 'object' && value !== null ? (value as Fields) : {})

/** Asks for everything that worklists ask for. While the clock of the sandbox stands still, all get the same copies. */
export async function servedBy(sandbox: Sandbox): Promise<Served> {
  const ask = async (path: string) => {
    const response = await fetch(sandbox.url + path)
    return response.ok ? ((await response.json()) as unknown) : undefined
  }
  const bodies = new Map<string, Fields>()
  const add = async (resource: string, key: string, path: string) => {
    const body = await ask(path)
    if (body !== undefined) bodies.set(`${resource} ${key}`, fieldsOf(body))
  }
  const guilds = Object.keys(fieldsOf(await ask('/guild/list/guild?identifier=uuid')))
  for (const key of guilds) await add('guilds', key, `/guild/uuid/${key}`)
  const members = [...bodies.values()].flatMap((guild) => membersOf(guild).map(([uuid]) => uuid))
  const listed = Object.keys(fieldsOf(fieldsOf(await ask('/player?identifier=uuid')).players))
  for (const key of new Set([...members, ...listed])) await add('players', key, `/player/${key}`)
  const boards = (await ask('/leaderboards/types')) as readonly string[]
  for (const key of boards) await add('leaderboards', key, `/leaderboards/${key}`)
  return { at: sandbox.clock.now(), bodies }
}

/** The uuid, rank and record of each member. */
function membersOf(guild: Fields): [string, string, Fields][] {
  return Object.entries(fieldsOf(guild.members)).flatMap(([rank, ofRank]) =>
    Object.entries(fieldsOf(ofRank)).map(([key, record]): [string, string, Fields] => [
      String(fieldsOf(record).uuid ?? key),
      rank,
      fieldsOf(record),
    ]),
  )
}

/** What one response says, as `what: value`. What it hides or lacks says nothing. */
const saidBy: Readonly<Record<string, (key: string, body: Fields) => [string, unknown][]>> = {
  guilds: (_, body) => [
    ...(['name', 'prefix', 'level', 'wars'] as const).map((name): [string, unknown] => [name, body[name]]),
    ...membersOf(body).flatMap(([uuid, rank, record]): [string, unknown][] => [
      [`rank of ${uuid}`, rank],
      [`joined of ${uuid}`, record.joined],
      [`contributed of ${uuid}`, record.contributed],
    ]),
  ],
  players: (_, body) => [
    ['username', body.username],
    ['guild', fieldsOf(body.guild).uuid ?? null],
    ['playtime', body.playtime],
  ],
  leaderboards: (_, body) =>
    Object.entries(body).flatMap(([place, entry]): [string, unknown][] => [
      [`name of ${place}`, fieldsOf(entry).name],
      [`score of ${place}`, fieldsOf(entry).score],
    ]),
}

/** The same from a database at an instant. */
const storedOf: Readonly<Record<string, string>> = {
  guilds: `
    select one.what, one.value from game.guild guild
     cross join lateral (values ('name', to_jsonb(guild.name)), ('prefix', to_jsonb(guild.prefix))) one(what, value)
     where guild.guild_uuid = $1::uuid and guild.valid_from <= $2 and guild.valid_until > $2
     union all
    (select one.what, one.value from game.guild_sample sample
      cross join lateral (values ('level', to_jsonb(sample.level)), ('wars', to_jsonb(sample.wars))) one(what, value)
      where sample.guild_uuid = $1::uuid and sample.observed_at = (
            select max(latest.observed_at) from game.guild_sample latest where latest.guild_uuid = $1::uuid and latest.observed_at <= $2))
     union all
    select one.what || ' of ' || member.player_uuid, one.value from game.guild_member member
     cross join lateral (values ('rank', to_jsonb(member.rank)), ('joined', to_jsonb(member.joined))) one(what, value)
     where member.guild_uuid = $1::uuid and member.valid_from <= $2 and member.valid_until > $2
     union all
    select * from (select distinct on (counter.player_uuid) 'contributed of ' || counter.player_uuid, to_jsonb(counter.value)
      from game.member_counter counter
     where counter.guild_uuid = $1::uuid and counter.counter = 'contributed' and counter.observed_at <= $2
     order by counter.player_uuid, counter.observed_at desc) latest`,
  players: `
    select one.what, one.value from game.player player
     cross join lateral (values ('username', to_jsonb(player.username)), ('guild', coalesce(to_jsonb(player.guild_uuid), 'null'))) one(what, value)
     where player.player_uuid = $1::uuid and player.valid_from <= $2 and player.valid_until > $2
     union all
    (select 'playtime', to_jsonb(counter.value) from game.player_counter counter
      where counter.player_uuid = $1::uuid and counter.counter = 'playtime' and counter.observed_at <= $2
      order by counter.observed_at desc limit 1)`,
  leaderboards: `
    select one.what || ' of ' || latest.place, one.value
      from (select distinct on (place.place) place.* from game.leaderboard_place place
             where place.type = $1 and place.observed_at <= $2 order by place.place, place.observed_at desc) latest
     cross join lateral (values ('name', to_jsonb(latest.name)), ('score', to_jsonb(latest.score))) one(what, value)
     where latest.reason is distinct from 'empty'`,
}

/** Where the rows of each key begin or end: only where a response about it was accepted. */
const instantsOf: Readonly<Record<string, readonly (readonly [table: string, key: string, column: string])[]>> = {
  guilds: [
    ['game.guild', 'guild_uuid', 'valid_from'],
    ['game.guild', 'guild_uuid', 'valid_until'],
    ['game.guild_member', 'guild_uuid', 'valid_from'],
    ['game.guild_member', 'guild_uuid', 'valid_until'],
    ['game.guild_sample', 'guild_uuid', 'observed_at'],
    ['game.member_counter', 'guild_uuid', 'observed_at'],
    ['game.member_presence', 'guild_uuid', 'observed_at'],
  ],
  players: [
    ['game.player', 'player_uuid', 'valid_from'],
    ['game.player', 'player_uuid', 'valid_until'],
    ['game.player_counter', 'player_uuid', 'observed_at'],
    ['game.player_status', 'player_uuid', 'observed_at'],
  ],
  leaderboards: [['game.leaderboard_place', 'type', 'observed_at']],
}

const accepted = `observation.status in ('ok', 'unchanged', 'partial')`

/** What a database says otherwise than the responses that it accepted, and how many of their statements were compared, by resource. */
export async function againstServed(db: Database, served: readonly Served[]) {
  const wrong: string[] = []
  const compared = Object.fromEntries(Object.keys(saidBy).map((resource) => [resource, 0]))
  const observations = await db.query<{ resource: string; key: string; at: Date }>(
    `select distinct resource, key, observed_at as at from sync.observation where ${accepted} and resource = any($1) order by 1, 2, 3`,
    [Object.keys(saidBy)],
  )
  for (const { resource, key, at } of observations) {
    const where = `${resource} ${key} at ${at.toISOString()}`
    const body = served.find((one) => one.at === at.getTime())?.bodies.get(`${resource} ${key}`)
    if (!body) wrong.push(`${where}: nothing was served`)
    const said = body ? (saidBy[resource]?.(key, body) ?? []) : []
    const rows = await db.query<{ what: string; value: unknown }>(
      `select what, value from (${storedOf[resource]}) found(what, value)`,
      [key, at],
    )
    const stored = new Map(rows.map(({ what, value }) => [what, value]))
    for (const [what, value] of said) {
      if (value === undefined || (value === null && what !== 'guild') || value === 'redacted') continue
      compared[resource] = (compared[resource] ?? 0) + 1
      if (textOf(value) !== textOf(stored.get(what)))
        wrong.push(`${where}: ${what} is ${JSON.stringify(stored.get(what))}, served ${JSON.stringify(value)}`)
    }
    const isLast = !observations.some((one) => one.resource === resource && one.key === key && one.at > at)
    // Who is missing from the last response alone may still be there.
    const names = new Set(said.map(([what]) => what))
    const invented = [...stored.keys()].filter((what) => /^(rank|name) of /.test(what) && !names.has(what))
    if (!isLast) for (const what of invented) wrong.push(`${where}: ${what} was not served`)
  }
  for (const [resource, all] of Object.entries(instantsOf))
    for (const [table, key, column] of all) {
      const rows = await db.query<{ key: string; at: Date }>(
        `select distinct one.${key}::text as key, one.${column} as at from ${table} one
          where one.${column} < 'infinity' and not exists (
            select from sync.observation observation where observation.resource = $1 and observation.key = one.${key}::text
               and observation.observed_at = one.${column} and ${accepted})`,
        [resource],
      )
      for (const one of rows) wrong.push(`${table}.${column} of ${one.key} is ${one.at.toISOString()}: no response`)
    }
  return { wrong, compared }
}

/** Instants are spelled differently in responses and in the database. */
function textOf(value: unknown): string {
  const isInstant = typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value)
  return isInstant ? new Date(value).toISOString() : String(value)
}
