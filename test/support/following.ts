import type { Database } from '../../src/db/database.ts'
import { changesBetween } from '../../src/sync/normalize/changed-fields.ts'
import { canonicalJson, type Json } from '../../src/sync/normalize/hash.ts'

interface Version {
  readonly key: string
  readonly from: Date
  readonly until: Date
  readonly observed: Date
  readonly document: Json
}

async function versionsIn(db: Database, table: string, key: string, observed = 'valid_from'): Promise<Version[][]> {
  const rows = await db.query<Version>(
    `select ${key} as key, valid_from as from, valid_until as until, greatest(${observed}, valid_from) as observed, document
       from ${table} order by 1, 2`,
  )
  return [...new Set(rows.map((row) => row.key))].map((key) => rows.filter((row) => row.key === key))
}

const ofCapture = (territory: string, at: number, from: Date, seen: Date, loser: unknown, winner: unknown) =>
  [territory, new Date(at).toISOString(), from.toISOString(), seen.toISOString(), loser, winner].join(' ')

/** The captures that follow from the holds of a database, worked out one by one. */
export async function capturesByHand(db: Database): Promise<string[]> {
  const tenMinutes = 600_000
  const captures: string[] = []
  for (const chain of await versionsIn(db, 'game.territory_hold', 'territory', 'observed_at')) {
    const holds = chain.map(({ document, ...version }) => {
      const { guild, acquired } = document as { guild: string | null; acquired: string | null }
      return { ...version, guild, acquired: guild === null || acquired === null ? undefined : Date.parse(acquired) }
    })
    for (const [nth, hold] of holds.entries()) {
      const before = holds[nth - 1]
      const { guild, acquired } = hold
      if (!before || guild === null) continue
      const isOther = guild !== before.guild
      const isLater = acquired !== undefined && acquired > (before.acquired ?? before.from.getTime() + tenMinutes)
      const isBack =
        acquired !== undefined &&
        before.acquired !== undefined &&
        acquired < before.acquired &&
        acquired < before.from.getTime()
      const wasSeen = holds
        .slice(0, nth)
        .some(
          (one) =>
            acquired !== undefined &&
            one.guild === guild &&
            one.from.getTime() >= acquired - tenMinutes &&
            one.acquired !== undefined &&
            one.acquired >= acquired,
        )
      if ((isOther || isLater) && !isBack && !wasSeen)
        captures.push(
          ofCapture(hold.key, acquired ?? hold.from.getTime(), hold.from, hold.observed, before.guild, guild),
        )
    }
  }
  return captures.sort()
}

export async function capturesIn(db: Database): Promise<string[]> {
  const rows = await db.query<Record<string, Date> & { territory: string; loser: string | null; winner: string }>(
    `select territory, captured_at as at, held_from as from, observed_at as seen, from_guild_uuid::text as loser, to_guild_uuid::text as winner
       from game.territory_capture`,
  )
  return rows
    .map(({ territory, at, from, seen, loser, winner }) =>
      ofCapture(territory, Number(at), from as Date, seen as Date, loser, winner),
    )
    .sort()
}

const text = (value: Json | undefined) => (value === undefined ? 'nothing' : canonicalJson(value))

/** The changes that follow from the versions of a table with documents, worked out one by one. */
export async function changesByHand(db: Database, table: string, key: string): Promise<string[]> {
  const chains = await versionsIn(db, table, key)
  const begins = Math.min(...chains.flat().map(({ from }) => from.getTime()))
  const changes: string[] = []
  for (const chain of chains) {
    const replaced = new Map<string, string>()
    const add = (at: Date, before: Version | undefined, after: Version | undefined) => {
      for (const change of changesBetween(before?.document, after?.document)) {
        const [old, now] = [text(change.before), text(change.after)]
        changes.push(
          [chain[0]?.key, at.toISOString(), change.path, old, now, replaced.get(change.path) === now].join(' '),
        )
        replaced.set(change.path, old)
      }
    }
    for (const [nth, version] of chain.entries()) {
      const [before, next] = [chain[nth - 1], chain[nth + 1]]
      const isNext = before?.until.getTime() === version.from.getTime()
      if (version.from.getTime() > begins) add(version.from, isNext ? before : undefined, version)
      const isCurrent = version.until.getTime() === 8_640_000_000_000_000
      if (!isCurrent && next?.from.getTime() !== version.until.getTime()) add(version.until, version, undefined)
    }
  }
  return changes.sort()
}

export async function changesIn(db: Database, resource: string): Promise<string[]> {
  const rows = await db.query<{
    key: string
    at: Date
    path: string
    old: Json
    now: Json
    lost: boolean
    came: boolean
    back: boolean
  }>(
    `select key, changed_at as at, path, old_value as old, new_value as now, new_value is null as lost, old_value is null as came,
            is_revert as back from game.field_change where resource = $1`,
    [resource],
  )
  return rows
    .map(({ key, at, path, old, now, lost, came, back }) =>
      [key, at.toISOString(), path, text(came ? undefined : old), text(lost ? undefined : now), back].join(' '),
    )
    .sort()
}
