import type { Sql } from '../../db/database.ts'
import type { RebuiltRows } from '../../sync/declare/resource.ts'
import { captureColumns, capturesOf } from './derive.ts'

/** Makes captures those that the holds began with, of the territories whose holds were rebuilt, from the first of these on. Only what differs is written. */
export async function rebuildCaptures(sql: Sql): Promise<RebuiltRows> {
  const key = 'territory, captured_at, held_from'
  const columns = captureColumns.split(', ')
  const values = columns.filter((name) => !key.includes(name))
  await sql.query(
    `create temp table capture_since on commit drop as
     select territory, min(valid_from) as since from refold_touched group by territory`,
  )
  await sql.query('analyze capture_since')
  const following = capturesOf(
    'capture_since join game.territory_hold hold on hold.territory = capture_since.territory and hold.valid_from >= since',
  )
  const [first] = await sql.query('select from game.territory_capture limit 1')
  if (!first) {
    const [written] = await sql.query<{ rows: number }>(
      `with written as (insert into game.territory_capture (${captureColumns}) ${following} returning 1)
       select count(*)::int as rows from written`,
    )
    await sql.query('drop table capture_since')
    return { table: 'game.territory_capture', removed: 0, changed: written?.rows ?? 0 }
  }
  await sql.query(`create temp table capture_following on commit drop as ${following}`)
  await sql.query(`create index on capture_following (${key})`)
  await sql.query('analyze capture_following')
  const removed = await sql.query(
    `delete from game.territory_capture capture using capture_since
      where capture.territory = capture_since.territory and capture.held_from >= since
        and not exists (select from capture_following following
                         where (following.territory, following.captured_at, following.held_from) = (capture.territory, capture.captured_at, capture.held_from))
     returning 1`,
  )
  const row = (of: string) => `(${values.map((name) => `${of}.${name}`).join(', ')})`
  const written = await sql.query(
    `insert into game.territory_capture as capture (${captureColumns}) select ${captureColumns} from capture_following
     on conflict (${key}) do update set (${values.join(', ')}) = ${row('excluded')}
      where ${row('capture')} is distinct from ${row('excluded')} returning 1`,
  )
  await sql.query('drop table capture_since, capture_following')
  return { table: 'game.territory_capture', removed: removed.length, changed: written.length }
}

/** Holds and captures say the same: each capture began a hold, and each hold that was captured has its capture. */
const follows = { history: 'game.territory_hold', key: 'wrong.territory' }
export const captureChecks = [
  {
    follows,
    name: 'capture',
    table: 'game.territory_capture',
    meaning: 'captures that no hold began with, or that name another guild than the holds before and after',
    find: `select capture.territory, capture.captured_at, capture.held_from, capture.from_guild_uuid, capture.to_guild_uuid
             from game.territory_capture capture
             left join (${capturesOf('game.territory_hold hold')}) following using (territory, captured_at, held_from)
            where following.territory is null or capture.to_guild_uuid is distinct from following.to_guild_uuid
               or capture.from_guild_uuid is distinct from following.from_guild_uuid`,
  },
  {
    follows,
    name: 'hold without capture',
    table: 'game.territory_hold',
    meaning: 'holds that began with a capture, which game.territory_capture lacks',
    find: `select territory, held_from, to_guild_uuid, from_guild_uuid from (${capturesOf('game.territory_hold hold')}) following
            where not exists (select from game.territory_capture capture
                               where capture.territory = following.territory and capture.held_from = following.held_from)`,
  },
] as const
