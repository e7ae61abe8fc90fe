import type { Database } from '../../../src/db/database.ts'
import { items } from '../../../src/resources/items/index.ts'
import { recipes } from '../../../src/resources/recipes/index.ts'
import { patchItems } from '../../../src/sandbox/generator/patch.ts'
import type { ItemWorld } from '../../../src/sandbox/generator/records.ts'
import { createItemWorld } from '../../../src/sandbox/generator/world.ts'
import { prepare } from '../../../src/sync/normalize/prepare.ts'
import { appendFieldChanges } from '../../../src/sync/respond/field-changes.ts'
import { loadVersions } from '../../../src/sync/respond/load.ts'
import { closeAbsent, findAbsent } from '../../../src/sync/respond/missing-keys.ts'
import type { Extent } from './draws.ts'

/** Items that a patch changes. */
const PATCHED = 150

/** Items and recipes through the engine itself: the first answer, and a patch a week. */
export async function loadPatches(db: Database, { until, days, seed, items: count }: Extent): Promise<void> {
  const patches = Math.max(2, Math.round(days / 7.3))
  const all = createItemWorld(seed)
  let world: ItemWorld = {
    ...all,
    items: all.items.slice(0, count),
    recipes: all.recipes.slice(0, Math.ceil(count / 9)),
  }
  for (let nth = 0; nth <= patches; nth++) {
    const at = new Date(until.getTime() - days * 86_400_000 * (1 - nth / (patches + 1)))
    if (nth > 0) world = patched(world, seed + nth)
    await loadAnswer(db, items, world.items, at, nth > 0)
    await loadAnswer(db, recipes, world.recipes, at, nth > 0)
  }
}

/** Recipes have no patches of their own: ten of them give a little more experience. */
function patched(world: ItemWorld, seed: number): ItemWorld {
  const { items, recipes, sets } = { ...patchItems(world, seed, PATCHED) }
  const first = (seed * 10) % (recipes.length - 10)
  const changed = recipes.map((one, nth) => (nth >= first && nth < first + 10 ? { ...one, xp: one.xp + 1 } : one))
  return { items, recipes: changed, sets }
}

async function loadAnswer(
  db: Database,
  resource: typeof items | typeof recipes,
  records: readonly unknown[],
  at: Date,
  isNews: boolean,
): Promise<void> {
  const { entities } = prepare(resource, JSON.parse(JSON.stringify(records)))
  await db.transaction(async (sql) => {
    const { inserted, changed } = await loadVersions(sql, resource.history, entities, at)
    const seen = new Set(entities.map(({ key }) => key))
    const missing = await findAbsent(sql, resource.history, { seen, at })
    const gone = missing.map(({ key }) => ({ key, firstMissedAt: at }))
    const closed = await closeAbsent(sql, resource.history, gone, at)
    const appeared = inserted.map(({ key, documentText }) => ({
      key,
      at,
      before: undefined,
      after: JSON.parse(documentText),
    }))
    const other = changed.map(({ entity: { key, documentText }, before }) => ({
      key,
      at,
      before,
      after: JSON.parse(documentText),
    }))
    if (isNews) await appendFieldChanges(sql, resource.name, [...appeared, ...other, ...closed])
    await sql.query(
      `insert into sync.run (run_id, resource, program, started_at, finished_at, status, observed_from, observed_at, complete, requests, pages, records, inserted, changed, living)
       values (gen_random_uuid(), $1, 'bench', $2, $2, 'ok', $2, $2, true, 1, 1, $3::int, $4::int, $5::int, $3::int)`,
      [resource.name, at, entities.length, inserted.length, changed.length],
    )
  })
}
