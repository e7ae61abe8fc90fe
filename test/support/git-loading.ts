import { recordedResponses } from '../../src/api/recordings/recorded.ts'
import { systemClock } from '../../src/base/clock.ts'
import { resourcesNamed } from '../../src/resources/index.ts'
import { loadRecorded } from '../../src/sync/backfill/backfill-recorded.ts'
import { openGitSource } from '../../src/sync/backfill/git-source.ts'
import { gitRepository } from './git-repository.ts'
import { instantOf, item, type World } from './world.ts'

export const guards = { plausibleShare: 0.5, absences: 2, zeroShare: 0.25 }
export const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

export const mappingsOf = (...maps: string[]) =>
  maps.map((map) => {
    const [glob = '', name = ''] = map.split('=')
    return { glob, resource: resourcesNamed([name])[0] as ReturnType<typeof resourcesNamed>[number] }
  })

/** Loads a git history as `backfill --from-git` does. */
export async function load({ db }: World, repository: string, ...maps: string[]) {
  const mappings = mappingsOf(...maps)
  const source = await openGitSource(db, repository, mappings, Date.now())
  const loading = { db, clock: systemClock, program: 'test', guards, log, raw: true }
  const resources = [...new Set(mappings.map(({ resource }) => resource))]
  const loaded = await loadRecorded(recordedResponses(source), loading, { resources }).finally(() => source.close())
  const { skipped, broken } = source
  return { ...loaded, skipped, broken: [...broken, ...loaded.broken] }
}

export type Files = Readonly<Record<string, unknown>>
export const commits = (history: Readonly<Record<string, Files>>) =>
  gitRepository(
    Object.entries(history).map(([at, files]) => ({
      at: instantOf(at),
      files: Object.fromEntries(
        Object.entries(files).map(([path, body]) => [
          path,
          body === null || typeof body === 'string' ? body : JSON.stringify(body),
        ]),
      ),
    })),
  )

/** A file of items of one type, keyed by the name that players see, as `jq` writes it. */
export const part = (type: string, ...names: string[]) =>
  Object.fromEntries(names.map((name) => [name, item(name, { type, subType: 'x' })]))
export const gear = (...names: string[]) => part('weapon', ...names)
export const tomes = (...names: string[]) => part('tome', ...names)
export const charms = (...names: string[]) => part('charm', ...names)

export const closed = `select internal_name, valid_until from game.item where valid_until <> 'infinity' order by 1`
export const current = `select internal_name, type from game.item where valid_until = 'infinity' order by 1`
export const runs = `select observed_at, status, complete, records from sync.run where status <> 'skipped' order by 1`
export const braces = 'Reference/{gear,tomes,charms}.json=items'

/** Two items leave; one moves to another file; the parts come one after the other, and each changes in a commit of its own. */
export const history = {
  '10:00': { 'Reference/gear.json': gear('Ash', 'Oak', 'Elm', 'Fir') },
  '12:00': { 'Reference/tomes.json': tomes('Ode', 'Epic') },
  '14:00': { 'Reference/charms.json': charms('Ring', 'Moved') },
  '16:00': { 'Reference/gear.json': gear('Ash', 'Elm', 'Fir') },
  '18:00': { 'Reference/tomes.json': tomes('Ode', 'Epic', 'Lay') },
  '20:00': { 'Reference/tomes.json': tomes('Epic', 'Lay', 'Moved'), 'Reference/charms.json': charms('Ring') },
  '22:00': { 'Reference/gear.json': gear('Ash', 'Elm', 'Fir', 'Yew') },
}
