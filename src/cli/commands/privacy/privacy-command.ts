import { migrateDatabase, openDatabase } from '../../../app/app.ts'
import { UsageError } from '../../../app/errors.ts'
import type { Database } from '../../../db/database.ts'
import { inProfiles } from '../../../resources/personal.ts'
import { players } from '../../../resources/players/index.ts'
import type { Removed } from '../../../sync/privacy/erase-person.ts'
import { knownGroups, personKept, purge } from '../../../sync/privacy/person.ts'
import { type Context, exitCode } from '../../context.ts'
import { formatTable } from '../../output/table.ts'
import { keysKnown } from '../sync/named-keys.ts'

const uuidForm = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** `privacy show <player>`: what is kept of a player, what is restricted, what was removed. Returns the exit code. */
export async function privacyShow(player: string, { app, out, flags }: Context): Promise<number> {
  const db = await openDatabase(app, ['privacy show'])
  try {
    await migrateDatabase(db, app)
    const playerUuid = await uuidOf(db, player)
    const { tables, restrictions, removals } = await personKept(db, inProfiles, playerUuid)
    if (flags.json) {
      out.write(`${JSON.stringify({ player: playerUuid, tables, restrictions, removals })}\n`)
      return exitCode.done
    }
    const parts = [
      ['kept', formatTable(['table', 'rows', 'first', 'last'], inRows(tables))],
      ['restricted', formatTable(['fieldGroup', 'since', 'toldBy'], inRows(restrictions))],
      ['removed', formatTable(['at', 'fieldGroup', 'policy', 'rows', 'reason'], inRows(removals))],
    ]
    out.write(`player ${playerUuid}\n${parts.map(([title, table]) => `\n${title}\n${table}`).join('')}`)
    return exitCode.done
  } finally {
    await db.close()
  }
}

export interface PurgeOptions {
  readonly group?: string
  readonly dryRun?: boolean
}

/** `privacy purge <player>`: removes what is kept of a player and says what went. Returns the exit code. */
export async function privacyPurge(
  player: string,
  options: PurgeOptions,
  { app, out, flags }: Context,
): Promise<number> {
  const { group, dryRun = false } = options
  const groups = knownGroups(inProfiles.tables)
  if (group !== undefined && !groups.includes(group))
    throw new UsageError(`no privacy rule is called ${group}; there are: ${groups.join(', ')}`)
  const db = await openDatabase(app, ['privacy purge'])
  try {
    await migrateDatabase(db, app)
    const playerUuid = await uuidOf(db, player)
    const at = new Date(app.clock.now())
    const removed = await inTransaction(db, dryRun, (sql) =>
      purge(sql, inProfiles, { playerUuid, fieldGroup: group, at }),
    )
    const tables = sums(removed)
    if (flags.json) out.write(`${JSON.stringify({ player: playerUuid, group: group ?? null, dryRun, tables })}\n`)
    else {
      const rows = tables.reduce((sum, one) => sum + one.rows, 0)
      out.write(`${formatTable(['table', 'rows'], tables)}\n`)
      out.write(dryRun ? `${rows} rows would go; nothing was changed\n` : `${rows} rows are gone\n`)
    }
    return exitCode.done
  } finally {
    await db.close()
  }
}

/** A uuid stands for itself, whether or not anything is known under it. */
async function uuidOf(db: Database, player: string): Promise<string> {
  if (uuidForm.test(player)) return player.toLowerCase()
  const { keys } = await keysKnown(players, db, [player])
  if (keys[0] === undefined) throw new UsageError(`nothing is kept of a player who is called ${player}`)
  return keys[0]
}

/** What a dry run would do is done and taken back: it counts what really goes. */
async function inTransaction<T>(db: Database, takeBack: boolean, work: Parameters<typeof db.transaction<T>>[0]) {
  const done: { result?: T } = {}
  try {
    return await db.transaction(async (sql) => {
      done.result = await work(sql)
      if (takeBack) throw new TakenBack()
      return done.result
    })
  } catch (error) {
    if (error instanceof TakenBack && done.result !== undefined) return done.result
    throw error
  }
}

class TakenBack extends Error {}

function sums(removed: readonly Removed[]): { table: string; rows: number }[] {
  const rows = new Map<string, number>()
  for (const one of removed) rows.set(one.table, (rows.get(one.table) ?? 0) + one.rows)
  return [...rows].map(([table, n]) => ({ table, rows: n }))
}

function inRows(rows: readonly object[]): Readonly<Record<string, unknown>>[] {
  return rows.map((row) => ({ ...row }))
}
