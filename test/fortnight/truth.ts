import { seededRandom } from '../../src/base/clock.ts'
import type { Database } from '../../src/db/database.ts'
import type { GameHistory } from '../../src/sandbox/index.ts'
import { answersAbout, changesIn } from '../questions/true-game/true-guild.ts'
import { stretchesSeen, TrueMap } from '../questions/true-game/true-map.ts'
import { TruePeople } from '../questions/true-game/true-people.ts'
import { trueSessions, untrueSessions } from '../support/true-sessions.ts'

/*
 * What a database recorded against what the sandbox says that truly happened, as far as the responses that were accepted could show it. What
 * happened while nobody looked is a gap and no fault.
 */

/** How many were compared, and the rows that are wrong. */
export interface Compared {
  readonly counts: Readonly<Record<'responses' | 'captures' | 'joins' | 'leaves' | 'sessions' | 'holders', number>>
  readonly wrong: readonly string[]
}

const took = `status in ('ok', 'unchanged', 'partial') and observed_at is not null`
/** How many holders are asked for. */
const MOMENTS = 60

/**
 * @param firstNames the territories when the game began
 * @param seed of the moments at which holders are asked for
 */
export async function compareWithTruth(
  db: Database,
  history: GameHistory,
  firstNames: readonly string[],
  seed: number,
): Promise<Compared> {
  const first = {
    territories: firstNames,
    guilds: new Map(),
    usernames: new Map(),
    wars: new Map(),
    lastJoin: new Map(),
  }
  const map = new TrueMap({ history, first })
  const polls = await responsesOf(db, 'territories')
  const lists = await responsesOf(db, 'online-players')
  const captures = await compareCaptures(db, history, map, polls)
  const members = await compareMembers(db, new TruePeople({ history, first }))
  const rows = await db.query<Record<string, unknown>>('select * from analytics.player_session')
  const untrue = untrueSessions(rows, trueSessions(history), lists)
  const holders = await compareHolders(db, map, polls, seed)
  return {
    counts: {
      responses: polls.length + lists.length + members.responses,
      captures: captures.count,
      joins: members.joins,
      leaves: members.leaves,
      sessions: rows.length,
      holders: holders.count,
    },
    wrong: [
      ...[captures.wrong, members.wrong, holders.wrong].flat(),
      ...untrue.map((row) => `player_session: no login and logout fits ${JSON.stringify(row)}`),
    ],
  }
}

/** When the responses about a whole resource were taken in, ms, rising. */
async function responsesOf(db: Database, resource: string): Promise<number[]> {
  const rows = await db.query<{ at: Date }>(
    `select distinct observed_at as at from sync.run where ${took} and resource = $1 order by 1`,
    [resource],
  )
  return rows.map(({ at }) => at.getTime())
}

async function compareCaptures(db: Database, history: GameHistory, map: TrueMap, polls: readonly number[]) {
  const rows = await db.query<{ at: Date; seen: Date; territory: string; guild: string }>(
    'select captured_at as at, observed_at as seen, territory, to_guild_uuid::text as guild from analytics.territory_capture',
  )
  const named = (at: number, territory: string, guild: string | null) =>
    `${new Date(at).toISOString()} ${territory} by ${guild}`
  const really = new Set(history.captures.map(({ at, territory, to }) => named(Date.parse(at), territory, to)))
  // A place that was renamed keeps the instant of its capture.
  for (const { territory, from, guild } of history.holds) really.add(named(Date.parse(from), territory, guild))
  const found = new Map(rows.map((row) => [named(row.at.getTime(), row.territory, row.guild), row.seen.getTime()]))
  const visible = stretchesSeen(map, polls).filter(({ guild, before }) => guild !== null && before !== undefined)
  const expected = new Map(visible.map((one) => [named(one.from, one.territory, one.guild), one.seenAt]))
  const say = (seen: number | undefined) => (seen === undefined ? 'never' : new Date(seen).toISOString())
  return {
    count: rows.length,
    wrong: [
      ...[...found.keys()].filter((one) => !really.has(one)).map((one) => `territory_capture: ${one} never happened`),
      ...[...expected]
        .filter(([one, seen]) => found.get(one) !== seen)
        .map(
          ([one, seen]) => `territory_capture: ${one} was shown ${say(seen)}, and is recorded ${say(found.get(one))}`,
        ),
      ...[...found.keys()].filter((one) => !expected.has(one)).map((one) => `territory_capture: ${one} was not shown`),
    ],
  }
}

async function compareMembers(db: Database, people: TruePeople) {
  const observations = await db.query<{ key: string; at: Date; took: boolean }>(
    // A refusal shows nothing, and has no instant that it speaks for.
    `select distinct key, coalesce(observed_at, received_at) as at, ${took} as took from sync.observation
      where resource = 'guilds' and (${took} or status = 'gone') order by 1, 2`,
  )
  const rows = await db.query<{ event: string; guild: string; player: string; seen: Date }>(
    `select event, guild_uuid::text as guild, player_uuid::text as player, observed_at as seen
       from analytics.membership_event where event in ('joined', 'left')`,
  )
  const asked = observations.map(({ key, at }) => ({ key, at: at.getTime(), askedAt: at.getTime() }))
  const accepted = { guilds: asked.filter((_, nth) => observations[nth]?.took) } as never
  const gone = asked.filter((_, nth) => !observations[nth]?.took)
  const named = (event: string, guild: string, player: string, seen: number) =>
    `${event} ${guild} ${player}, seen ${new Date(seen).toISOString()}`
  const found = new Set(rows.map((row) => named(row.event, row.guild, row.player, row.seen.getTime())))
  const ended = new Set(gone.map(({ key }) => key))
  const expected = new Set<string>()
  for (const guild of new Set(asked.map(({ key }) => key))) {
    const answers = answersAbout({ accepted, gone, game: undefined as never }, people, guild, () => 0)
    for (const { event, player, seenAt } of changesIn(answers))
      if (event === 'joined' || event === 'left') expected.add(named(event, guild, player, seenAt))
  }
  // When a guild was found to be gone is a matter of evidence: its members left some time.
  const isEnd = (one: string) => one.startsWith('left ') && ended.has(one.split(' ')[1] ?? '')
  const missing = [...expected].filter((one) => !found.has(one) && !isEnd(one))
  const invented = [...found].filter((one) => !expected.has(one) && !isEnd(one))
  return {
    responses: asked.length,
    joins: rows.filter(({ event }) => event === 'joined').length,
    leaves: rows.filter(({ event }) => event === 'left').length,
    wrong: [
      ...missing.map((one) => `membership_event: ${one} is missing`),
      ...invented.map((one) => `membership_event: ${one} was not shown`),
    ],
  }
}

/** Who held what at any moments: whoever a response showed, and nobody else. */
async function compareHolders(db: Database, map: TrueMap, polls: readonly number[], seed: number) {
  const random = seededRandom(seed)
  const places = [...map.places.keys()]
  const [begin = 0, end = 0] = [polls[0], polls.at(-1)]
  const wrong: string[] = []
  let count = 0
  for (let nth = 0; nth < MOMENTS; nth++) {
    const moment = Math.floor(begin + random() * (end - begin))
    const territory = places[Math.floor(random() * places.length)] ?? ''
    const [row] = await db.query<{ guild: string | null; reason: string | null }>(
      'select guild_uuid::text as guild, reason from analytics.territory_owner_at($1, $2)',
      [territory, new Date(moment)],
    )
    const hold = map.at(territory, moment)
    const isSeen = hold && polls.some((at) => at >= hold.from && at < hold.until)
    if (!isSeen || row?.reason) continue
    count += 1
    if (row?.guild !== hold.guild)
      wrong.push(
        `territory_owner_at ${territory} ${new Date(moment).toISOString()}: ${row?.guild}, truly ${hold.guild}`,
      )
  }
  return { count, wrong }
}
