import { isUuid, uuidText } from '../../../api/schemas/form/limits.ts'
import { FatalError, UsageError } from '../../../base/errors.ts'
import { visibleLine } from '../../../base/terminal-text.ts'
import type { Database, Sql } from '../../../db/database.ts'
import { worklistOf } from '../../../resources/index.ts'
import type { Removed } from '../../../sync/archive/erase-archived.ts'
import type { Personal } from '../../../sync/declare/personal.ts'
import { knownGroups, personKept, purge } from '../../../sync/privacy/person.ts'
import { type ConsentFlags, consent } from '../../ask.ts'
import { type Context, rolledBack, withDatabase, writeResult } from '../../context.ts'
import { keysKnown, notFound } from '../../named-keys.ts'
import { formatTable } from '../../output/table.ts'

/** The players, and what is kept of them where. */
const people = worklistOf('player')

/** `privacy show <player>`: what is kept of a player, what is restricted, what was removed. */
export async function privacyShow(context: Context, _flags: object, name: string): Promise<void> {
  return await withDatabase(context, 'privacy show', async (db) => {
    const player = await uuidOf(db, name)
    const { tables, restrictions, removals } = await personKept(db, personal(), player)
    const parts = [
      ['kept', formatTable(['table', 'rows', 'first', 'last'], tables)],
      ['restricted', formatTable(['fieldGroup', 'since', 'toldBy', 'isPending'], restrictions)],
      ['removed', formatTable(['at', 'fieldGroup', 'policy', 'rows', 'reason'], removals)],
    ]
    const text = parts.map(([title, table]) => `\n${title}\n${table}`).join('')
    writeResult(context, { player, tables, restrictions, removals }, `player ${player}\n${text}`)
  })
}

interface PurgeFlags extends ConsentFlags {
  readonly group?: string
}

/** `privacy purge <player>`: removes what is kept of a player and prints the counts, which it shows before it asks. */
export async function privacyPurge(context: Context, flags: PurgeFlags, name: string): Promise<void> {
  const { group, dryRun = false } = flags
  const groups = knownGroups(personal().tables)
  if (group !== undefined && !groups.includes(group))
    throw new UsageError(`privacy rule not found: ${group}; there are: ${groups.join(', ')}`)
  const removed = (isRehearsal: boolean) =>
    withDatabase(context, command, (db) => removeFrom(db, { name, group, isRehearsal }, context), {
      access: 'change',
      isShort: true,
    })
  let done = dryRun || !flags.yes ? await removed(true) : undefined
  if (!dryRun) {
    if (done) {
      context.err.write(done.text)
      // The database is closed meanwhile: others may wait for it.
      await consent(context, flags, { command, question: `Remove all that of ${visibleLine(name)} for good?` })
    }
    done = await removed(false)
  }
  if (done) writeResult(context, done.json, done.text)
}

const command = 'privacy purge'

/** @param wanted.isRehearsal whether it is rolled back, so that the counts are exact and nothing is changed */
async function removeFrom(
  db: Database,
  { name, group, isRehearsal }: { name: string; group: string | undefined; isRehearsal: boolean },
  { app }: Context,
) {
  const player = await uuidOf(db, name)
  const at = new Date(app.clock.now())
  const remove = (sql: Sql) => purge(sql, personal(), { playerUuid: player, fieldGroup: group, at })
  const tables = rowsByTable(isRehearsal ? await rolledBack(db, remove) : await db.transaction(remove))
  if (!isRehearsal) await db.outdateCopies?.()
  const rows = tables.reduce((sum, table) => sum + table.rows, 0)
  const total = isRehearsal ? `${rows} rows would be removed; nothing was changed` : `${rows} rows are removed`
  return {
    text: `${formatTable(['table', 'rows'], tables)}\n${total}\n`,
    json: { player, group: group ?? null, dryRun: isRehearsal, tables },
  }
}

/** The uuid of a player; a uuid is returned as it is, known or not. */
async function uuidOf(db: Database, player: string): Promise<string> {
  if (isUuid(player)) return uuidText(player)
  const { keys } = await keysKnown(people, db, [player])
  if (keys[0] === undefined) {
    throw new UsageError(`${await notFound(people, db, player)}; nothing is kept under this name`)
  }
  return keys[0]
}

function personal(): Personal {
  if (!people.personal) throw new FatalError(`${people.name} declares no personal data`)
  return people.personal
}

function rowsByTable(removed: readonly Removed[]): { table: string; rows: number }[] {
  const rows = new Map<string, number>()
  for (const entry of removed) rows.set(entry.table, (rows.get(entry.table) ?? 0) + entry.rows)
  return [...rows].map(([table, count]) => ({ table, rows: count }))
}
