import { seededRandom } from '../../../src/base/clock.ts'
import type { Database } from '../../../src/db/database.ts'
import { resources } from '../../../src/resources/index.ts'
import { createGame, type Game } from '../../../src/sandbox/game/game.ts'
import { gameSource } from '../../../src/sandbox/game/routes.ts'
import type { AnswerSource } from '../../../src/sandbox/http/answer.ts'
import { patchItems } from '../../../src/sandbox/index.ts'
import { worldSource } from '../../../src/sandbox/world-source.ts'
import { isWorklist, type Resource, type Worklist } from '../../../src/sync/declare/resource.ts'
import { setExpectedInterval as expectEvery } from '../../../src/sync/ledger/gaps.ts'
import { isAccepted } from '../../../src/sync/ledger/ledger.ts'
import type { Engine } from '../../../src/sync/run/engine.ts'
import { ingest } from '../../../src/sync/run/ingest.ts'
import { runResource } from '../../../src/sync/run/run-resource.ts'
import { WorklistRun } from '../../../src/sync/run/worklist-run.ts'
import { addKeys } from '../../../src/sync/worklist/work-items.ts'
import { apiOf } from './api-of-game.ts'
import { retuned, smallItemWorld } from './item-world.ts'
import { type Accepted, hour, type PlaceAnswer, type Played } from './played.ts'
import { type Polled, pacesFor, polled, timetable } from './timetable.ts'

const guards = { plausibleShare: 0.4, absences: 2, zeroShare: 0.25 }
const silent = () => undefined
const log = { debug: silent, info: silent, warn: silent, error: silent }

/**
 * Plays a game, watches it for `hours` and takes in what is seen.
 * @param skipped hours that are played before anybody watches
 */
export async function play(db: Database, seed: number, hours: number, skipped: number): Promise<Played> {
  const startedAt = Date.parse('2026-06-01T00:00:00Z')
  const [from, until] = [startedAt + skipped * hour, startedAt + (skipped + hours) * hour]
  let now = startedAt
  const world = smallItemWorld(seed)
  const items = worldSource(() => world, 'live', seed, { size: 50, firstPage: 1 })
  const itemWorlds = [{ at: startedAt, world: items.itemWorld() }]
  const settings = { seed, startedAt, guilds: 90, players: 700 }
  const ends = whatEnds(settings, from, until)
  const game = createGame({
    ...settings,
    patchItems: (patch) => {
      const { changed, added, removed, ...patched } = patchItems(items.itemWorld(), patch, 6)
      const world = { ...patched, recipes: retuned(patched.recipes, patch) }
      items.setItemWorld(world)
      // The game says when only afterwards.
      itemWorlds.push({ at: Number.NaN, world })
      return { changed, added, removed }
    },
  })
  const first = firstOf(game)
  game.advanceTo(from)
  const people = gameSource(game, 'live', hours > 24 ? 4 * 3600 : 900)
  const source: AnswerSource = {
    answer: (request, at) => {
      game.advanceTo(at)
      return /^\/(guild|player)(\/|$)/.test(request.path) ? people.answer(request, at) : items.answer(request, at)
    },
  }
  const api = apiOf(source, () => now)
  const engine: Engine = {
    db,
    api,
    program: 'test',
    guards,
    log,
    clock: { now: () => now, sleep: async () => undefined },
  }
  const random = seededRandom(seed)
  const playing = [...game.realm.guilds.values()].slice(0, 60).filter(({ members }) => members.size > 3)
  const chosen = playing.filter((_, nth) => nth < 6 || nth % 6 === 0).map(({ uuid }) => uuid)
  const guilds = [...new Set([...ends, ...chosen])]
  const players = [...game.realm.people]
    .filter((one) => one.habit !== null && random() < 0.5)
    .slice(0, 24)
    .map(({ uuid }) => uuid)
  const paces = pacesFor(hours)
  const slots = timetable(from, until, paces)
  for (const resource of polled)
    await expectEvery(db, { resource, everySeconds: paces[resource], setBy: 'start', at: new Date(from - hour) })
  await addKeys(db, 'guilds', guilds)
  await addKeys(db, 'players', players)

  const accepted = Object.fromEntries(polled.map((name) => [name, [] as Accepted[]])) as Record<Polled, Accepted[]>
  const gone: Required<Accepted>[] = []
  const places: PlaceAnswer[] = []
  const watched = new Set([...first.territories].filter((_, nth) => nth % 40 === 0))
  const byName = new Map([...resources].map((one) => [one.name, one]))
  const turns: Readonly<Record<string, readonly string[]>> = { guilds, players }
  for (const { resource: name, nth, at, isLost } of slots) {
    if (isLost) continue
    now = at
    const resource = byName.get(name)
    if (!resource) throw new Error(`no resource ${name}`)
    const keys = turns[name] ?? []
    const taken = await (isWorklist(resource)
      ? takeKey(resource, engine, keys[nth % keys.length] ?? '')
      : takeWhole(resource, engine))
    if (taken) accepted[name].push({ ...taken, askedAt: at })
    else gone.push({ at, askedAt: at, key: keys[nth % keys.length] ?? '' })
    if (name === 'territories') places.push(...(await placesIn(engine, watched)))
  }
  game.advanceTo(until)
  const history = game.history(0, until)
  const dated = itemWorlds.map(({ at, world }, nth) => ({
    at: nth === 0 ? at : Date.parse(history.itemPatches[nth - 1]?.at ?? ''),
    world,
  }))
  return {
    db,
    game,
    history,
    from,
    until,
    paces,
    slots,
    accepted,
    gone,
    first,
    guilds,
    players,
    itemWorlds: dated,
    places,
  }
}

/** Guilds that disband or are founded while somebody watches, from a game that goes the same way; a few of them. */
function whatEnds(settings: Parameters<typeof createGame>[0], from: number, until: number): string[] {
  const ahead = createGame({ ...settings, patchItems: () => ({ changed: [], added: [], removed: [] }) })
  ahead.advanceTo(until)
  const { guilds } = ahead.history(from, until)
  const ended = guilds.filter(({ event }) => event === 'disbanded').slice(0, 3)
  const again = guilds.filter(({ event }) => event === 'refounded').slice(0, 3)
  const founded = guilds.filter(({ event }) => event === 'founded').slice(0, 2)
  const former = again.map((one) => one.former ?? one.guild)
  return [...ended.map(({ guild }) => guild), ...former, ...[...again, ...founded].map(({ guild }) => guild)]
}

export async function takeWhole(resource: Resource, engine: Engine): Promise<Omit<Accepted, 'askedAt'>> {
  const { status, observedAt, quarantined, error } = await runResource(resource, engine)
  if (!['ok', 'unchanged', 'partial'].includes(status) || quarantined > 0)
    throw new Error(`${resource.name} was ${status} at ${new Date(engine.clock.now()).toISOString()}: ${error}`)
  return { at: Date.parse(observedAt ?? '') }
}

export async function takeKey(
  resource: Worklist,
  engine: Engine,
  key: string,
): Promise<Omit<Accepted, 'askedAt'> | undefined> {
  // Each key by itself, as by runs that request one key each.
  const run = new WorklistRun(resource, engine)
  const { status, observedAt } = await run.add(key, await ingest(run.contextOf(key)))
  await run.endRefusals(true)
  await run.close(1)
  // A guild that is no more has no response.
  return isAccepted(status) && observedAt ? { at: observedAt.getTime(), key } : undefined
}

/** The same copy once more, for what the history does not tell. */
async function placesIn({ api }: Engine, watched: ReadonlySet<string>): Promise<PlaceAnswer[]> {
  const { body, observedAt: at } = await api.guilds.territories()
  return Object.entries(body as Readonly<Record<string, Omit<PlaceAnswer, 'at' | 'territory'>>>).flatMap(
    ([territory, { hq, treasury, defences, resources }]) =>
      watched.has(territory)
        ? [{ at, territory, ...(hq === undefined ? {} : { hq }), treasury, defences, resources }]
        : [],
  )
}

function firstOf({ realm }: Game): Played['first'] {
  const guilds = [...realm.guilds.values()]
  const players = [...realm.players.values()]
  return {
    territories: [...realm.territories].map(({ name }) => name),
    guilds: new Map(guilds.map(({ uuid, name, prefix }) => [uuid, { name, prefix }])),
    usernames: new Map(players.map(({ uuid, username }) => [uuid, username])),
    wars: new Map(guilds.map(({ uuid, wars }) => [uuid, wars])),
    lastJoin: new Map(players.map(({ uuid, lastJoin }) => [uuid, lastJoin])),
  }
}
